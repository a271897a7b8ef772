#!/usr/bin/env bash
# Receives Slipway's webhooks with bash, openssl and flock, as a CGI program (RFC 3875) of a web server.
# The server gives it the request, and these:
#
#   WEBHOOK_SECRET  the secret; openssl takes it on its command line, where other users of the machine could see it
#   STATE_DIR       a directory of its own, for what it has handled so far; files a week old can be deleted
set -euo pipefail
# Characters are bytes.
export LC_ALL=C

max_body_bytes=1000000
tolerance_seconds=300

# Your work. Put what takes long into a queue: the sender waits 15 seconds for an answer.
handle() {
  echo "news $1 $2 $3" >&2
}

answer() {
  printf 'Status: %s\r\nContent-Type: text/plain\r\n\r\n' "$1"
  exit
}

refuse() {
  echo refused >&2
  answer '401 Unauthorized'
}

# The HMAC-SHA256 of standard input, in base64.
hmac() {
  local key
  key=$(printf %s "$WEBHOOK_SECRET" | od -An -v -tx1 | tr -d ' \n')
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A
}

# Whether two texts are equal. It compares their HMACs, so the time it takes tells nothing about the texts.
# An openssl that fails prints nothing, and that is equal to nothing.
equal() {
  local one other
  one=$(printf %s "$1" | hmac) && other=$(printf %s "$2" | hmac) || return 1
  [[ -n $one && $one == "$other" ]]
}

# webhook-signature covers the id and the time beside the body, so an old request cannot be sent again.
is_genuine() {
  local id=${HTTP_WEBHOOK_ID:-} timestamp=${HTTP_WEBHOOK_TIMESTAMP:-} age digest given all
  [[ $id =~ ^[0-9A-Za-z_-]+$ && $timestamp =~ ^[1-9][0-9]{0,11}$ ]] || return 1
  age=$(($(date +%s) - timestamp))
  ((age <= tolerance_seconds && age >= -tolerance_seconds)) || return 1
  digest=$({ printf '%s.%s.' "$id" "$timestamp"; cat "$body"; } | hmac) || return 1
  # While the secret is being changed there are two, one of each secret. Each takes some processes to compare: not many.
  read -ra all <<<"${HTTP_WEBHOOK_SIGNATURE:-}"
  for given in "${all[@]:0:8}"; do
    if equal "v1,$digest" "$given"; then return; fi
  done
  return 1
}

# What follows some text in the body, white space aside. No text of a value can look like a key with its colon, because
# quotes in it are escaped; still, use jq if you have it.
find_in_body() {
  [[ $(<"$body") =~ ${1//[[:space:]]/[[:space:]]*} ]] && printf %s "${BASH_REMATCH[1]}"
}

receive() {
  local run version state latest=0
  run=$(find_in_body '"run" : \{ "id" : "([0-9A-Za-z_-]+)"')
  version=$(find_in_body '"stateVersion" : ([0-9]+)')
  state=$(find_in_body '"state" : "([A-Z_]+)"')
  # One at a time.
  exec 9>"$STATE_DIR/lock"
  flock 9
  if [[ -e $STATE_DIR/run-$run ]]; then latest=$(<"$STATE_DIR/run-$run"); fi
  # The id is also in X-Slipway-Delivery, but signed only here.
  if [[ -e $STATE_DIR/delivery-$HTTP_WEBHOOK_ID ]]; then
    echo "duplicate $run $version" >&2
  elif ((version <= latest)); then
    echo "outdated $run $version" >&2
  else
    handle "$run" "$version" "$state"
    echo "$version" >"$STATE_DIR/run-$run"
  fi
  # Not before the work is done: if that fails, the next attempt must not be taken for a duplicate.
  touch "$STATE_DIR/delivery-$HTTP_WEBHOOK_ID"
}

: "${WEBHOOK_SECRET:?is empty: anybody could write what this would believe}" "${STATE_DIR:?is not set}"
[[ $REQUEST_METHOD == POST ]] || answer '405 Method Not Allowed'
[[ ${CONTENT_LENGTH:-} =~ ^[0-9]{1,9}$ ]] || answer '411 Length Required'
((10#$CONTENT_LENGTH <= max_body_bytes)) || answer '413 Content Too Large'

# A file, because no variable of bash can hold every byte.
body=$(mktemp)
trap 'rm -f "$body"' EXIT
head -c "$CONTENT_LENGTH" >"$body"
is_genuine || refuse
receive
answer '204 No Content'
