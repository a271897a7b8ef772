# Makes the seccomp profile of a container that Slipway runs in from the one that podman or docker has by default:
#   jq --from-file deploy/container-seccomp.jq /usr/share/containers/seccomp.json > slipway-seccomp.json
# Nothing is opened but what bubblewrap needs to make namespaces and to put a file tree together; inside of the sandbox
# Slipway's own filter refuses these again.
["clone", "clone3", "mount", "pivot_root", "setns", "sethostname", "umount2", "unshare"] as $needed
| .syscalls |= (map(.names -= $needed | select(.names | length > 0)) + [{names: $needed, action: "SCMP_ACT_ALLOW"}])
