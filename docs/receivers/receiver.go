// Receives Slipway's webhooks, with nothing but the standard library:
//
//	WEBHOOK_SECRET=... PORT=8080 go run receiver.go
package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBodyBytes = 1_000_000
	tolerance    = 5 * time.Minute
)

var secret = []byte(os.Getenv("WEBHOOK_SECRET"))

// A real receiver keeps both in its database: here a restart forgets them, and they only grow.
var (
	mutex   sync.Mutex
	handled = map[string]bool{} // ids of deliveries
	latest  = map[string]int{}  // id of a run -> its highest stateVersion so far
)

type payload struct {
	State        string `json:"state"`
	StateVersion int    `json:"stateVersion"`
	Run          struct {
		ID string `json:"id"`
	} `json:"run"`
}

// handle is your work. Put what takes long into a queue: the sender waits 15 seconds for an answer.
func handle(p payload) error {
	fmt.Println("news", p.Run.ID, p.StateVersion, p.State)
	return nil
}

// isGenuine checks webhook-signature, which covers the id and the time beside the body, so that an old
// request cannot be sent again. The body is the bytes as they came: JSON that was parsed and written again
// is rarely the same.
func isGenuine(headers http.Header, body []byte) bool {
	timestamp := headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.", headers.Get("webhook-id"), timestamp)
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// While the secret is being changed there are two, one of each secret.
	for _, given := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal(expected, []byte(given)) {
			return true
		}
	}
	return false
}

func receive(delivery string, p payload) error {
	mutex.Lock()
	defer mutex.Unlock()
	switch {
	case handled[delivery]:
		fmt.Println("duplicate", p.Run.ID, p.StateVersion)
	case p.StateVersion <= latest[p.Run.ID]:
		fmt.Println("outdated", p.Run.ID, p.StateVersion)
	default:
		// What failed is not remembered: the next attempt must not be taken for a duplicate.
		if err := handle(p); err != nil {
			return err
		}
		latest[p.Run.ID] = p.StateVersion
	}
	handled[delivery] = true
	return nil
}

func statusFor(w http.ResponseWriter, r *http.Request) int {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		return http.StatusRequestEntityTooLarge
	}
	if !isGenuine(r.Header, body) {
		fmt.Println("refused")
		return http.StatusUnauthorized
	}
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return http.StatusBadRequest
	}
	// The id is also in X-Slipway-Delivery, but signed only here.
	if err := receive(r.Header.Get("webhook-id"), p); err != nil {
		log.Print(err)
		return http.StatusInternalServerError
	}
	return http.StatusNoContent
}

func main() {
	if len(secret) == 0 {
		log.Fatal("WEBHOOK_SECRET is empty: anybody could write what this would believe")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "8080"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	answer := func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(statusFor(w, r)) }
	server := http.Server{Handler: http.HandlerFunc(answer), ReadTimeout: time.Minute}
	log.Fatal(server.Serve(listener))
}
