#compdef hostpanel
# Completion of hostpanel for zsh.
_hostpanel() {
  local -a found
  found=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${found[1]}" ]]; then
    compadd -- "${found[@]}"
  else
    _files
  fi
}
if [[ "${funcstack[1]}" == "_hostpanel" ]]; then
  _hostpanel "$@"
else
  compdef _hostpanel hostpanel
fi
