# After `init`: fails when the state would lie in the workspace, which is removed when the run ends.
# $1: the file that it must be kept in; without it, any backend but a local one does.
state="$TF_DATA_DIR/terraform.tfstate"
is_local() { grep -Eq '"type": *"local"' "$state"; }
if [ $# -gt 0 ]; then
  # The project root may have a directory of the override file's name, or a .tofu file, which goes before it.
  if [ -f "$state" ] && is_local && grep -Fq "\"path\": \"$1\"" "$state"; then
    exit 0
  fi
  echo 'slipway: the program keeps its state elsewhere' >&2
  exit 1
fi
if [ -f "$state" ] && ! is_local; then
  exit 0
fi
echo 'slipway: no backend keeps the state of this program' >&2
exit 1
