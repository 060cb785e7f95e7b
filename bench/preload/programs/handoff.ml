(* SPDX-License-Identifier: MIT *)
(* handoff WORKLOAD SECONDS: two threads in turn, by two channels of OCaml's Event. An operation is
   a round trip. The lines that are printed are those of meter.h. *)

let warm = 0.25
let stride = 16
let last = -1

let rec answer there back =
  let word = Event.sync (Event.receive there) in
  Event.sync (Event.send back word);
  if word <> last then answer there back

let turn there back word =
  Event.sync (Event.send there word);
  ignore (Event.sync (Event.receive back))

(* Round trips for a time: how many, and seconds. *)
let turns there back seconds =
  let at = Unix.gettimeofday () in
  let rec go operations =
    for i = 1 to stride do turn there back i done;
    let operations = operations + stride in
    let taken = Unix.gettimeofday () -. at in
    if taken < seconds then go operations else (operations, taken) in
  go 0

let measure seconds =
  let there = Event.new_channel () and back = Event.new_channel () in
  let other = Thread.create (fun () -> answer there back) () in
  ignore (turns there back (seconds *. warm));
  print_endline "begin";
  let operations, taken = turns there back seconds in
  Printf.printf "{\"ops\": %d, \"seconds\": %.9f}\n%!" operations taken;
  turn there back last;
  Thread.join other

let () =
  let seconds = match Sys.argv with
    | [| _; "event"; word |] -> Option.value (float_of_string_opt word) ~default:0.
    | _ -> 0. in
  if seconds > 0. && seconds <= 3600. then measure seconds
  else begin
    prerr_endline "want event; and SECONDS, up to 3600";
    exit 2
  end
