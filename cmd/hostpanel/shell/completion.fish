# Completion of hostpanel for fish.
function __hostpanel
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  $words[1] complete -- $words[2..-1] "$current" 2>/dev/null
end
complete -c hostpanel -f -a '(__hostpanel)'
complete -c hostpanel -l data-dir -r -F
