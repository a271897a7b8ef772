"""Reads one JSON string a line and writes what Python's ipaddress makes of it: null, or version, number, is_global."""

import ipaddress
import json
import sys

for line in sys.stdin:
    try:
        address = ipaddress.ip_address(json.loads(line))
    except ValueError:
        print("null")
        continue
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    print(json.dumps([address.version, str(int(address)), address.is_global]))
