# Hold a report (or an inspect) against the right answer of a trace: one line a difference, nothing when equal.
#   jq -rn --slurpfile a ANSWER --slurpfile r REPORT -f compare.jq            report --format json
#   jq -rn --slurpfile a ANSWER --slurpfile r INSPECT --arg events 1 -f …     inspect --format json
# The answers were made by a plain reader written apart from rundown.

def table: reduce .[] as $m ({};
  ([$m.pid, $m.module, $m.namespace, $m.name, $m.signature] | tojson) as $k
  | .[$k] = [((.[$k] // [0, 0])[0] + $m.exclusive), ((.[$k] // [0, 0])[1] + $m.inclusive)]);
def bypid: reduce .[] as $p ({}; .[$p.pid | tostring] += $p.samples) | with_entries(select(.value != 0));
# $zero: what a missing key stands for, or null.
def differ($what; $a; $r; $zero): ($a + $r) | keys_unsorted[] as $k
  | select(($a[$k] // $zero) != ($r[$k] // $zero))
  | "\($what) \($k): right \(($a[$k] // $zero) | tojson), reported \(($r[$k] // $zero) | tojson)";
def one($what; $a; $r): select($a != $r) | "\($what): right \($a | tojson), reported \($r | tojson)";

$a[0] as $a | $r[0] as $r |
if $ARGS.named.events then
  differ("events"; $a.counts; $r.events; 0)
else
  one("samples"; $a.samples; $r.samples),
  (if $a.types then differ("kind"; $a.types; $r.kinds; 0) else empty end),
  (if $a | has("lost") then one("lost events"; $a.lost; $r.trust.lost_events) else empty end),
  (if $a | has("complete") then one("complete"; $a.complete; $r.trust.complete) else empty end),
  (if $a | has("cut_at") then one("cut_at"; $a.cut_at; $r.trust.cut_at) else empty end),
  (if $a | has("frames") then one("frames"; $a.frames; $r.trust.frames) else empty end),
  (if $a | has("unresolved_frames") then one("unresolved frames"; $a.unresolved_frames; $r.trust.unresolved_frames) else empty end),
  (if $a | has("ambiguous_frames") then one("ambiguous frames"; $a.ambiguous_frames; $r.trust.ambiguous_frames) else empty end),
  (if $a.format == "etl" then differ("process"; $a.processes | bypid; $r.processes | bypid; 0) else empty end),
  differ("method"; $a.methods | table; $r.methods | table; null)
end
