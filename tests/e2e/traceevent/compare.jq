# Hold what TraceEvent says of a made-up trace against its truth: one line a difference, nothing when equal.
#   jq -rn --slurpfile a TRUTH --slurpfile t TRACEEVENT -f compare.jq

# TraceEvent calls a method by namespace, name and arguments.
def arguments: .signature | if contains("(") then "(" + (split("(")[1:] | join("(")) else "" end;
def called: if .name == "?" then "?" else .namespace + "." + .name + arguments end;
def right: reduce .methods[] as $m ({}; ($m | called) as $k
  | .[$k] = [((.[$k] // [0, 0])[0] + $m.exclusive), ((.[$k] // [0, 0])[1] + $m.inclusive)]);
# Here it numbers the universal events.
def numbered: with_entries(.key |= (sub("/ExistingProcess/"; "/0/") | sub("/ProcessCreate/"; "/1/") | sub("/ProcessExit/"; "/2/")
  | sub("/ProcessMapping/"; "/3/") | sub("/ProcessSymbol/"; "/4/") | sub("/cpu/"; "/1/")));
def differ($what; $a; $t; $zero): ($a + $t) | keys_unsorted[] as $k | select(($a[$k] // $zero) != ($t[$k] // $zero))
  | "\($what) \($k): right \(($a[$k] // $zero) | tojson), TraceEvent \(($t[$k] // $zero) | tojson)";

$a[0] as $a | $t[0] as $t |
differ("events"; $a.counts | numbered; $t.events; 0),
(if $a.lost != $t.lost then "lost: right \($a.lost), TraceEvent \($t.lost)" else empty end),
(if $t.methods then
  (if $a.samples != $t.samples then "samples: right \($a.samples), TraceEvent \($t.samples)" else empty end),
  differ("method"; $a | right; $t.methods; [0, 0])
else empty end)
