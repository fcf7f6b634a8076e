// The session's handlers for a process's VirtualWorld and Inspector.
#include "dist/remote/session.h"

namespace dist::sim {
namespace {

void join(const Asked& asked, Response& response) {
  const Job job = asked.session.simulation.join(asked.session.rank);
  response.message.put(job.rank).put(job.world_size).put(job.local_rank).put(job.local_world_size);
  response.message.put(std::string_view(job.launcher));
}

void exchange(const Asked& asked, Response& response) {
  const BoardCall call = get_board_call(asked.question, asked.session.rank, asked.session.ranks());
  if (asked.session.options.exchanged) asked.session.options.exchanged(asked.session.rank, call.message);
  std::vector<int> missing;
  const auto exchanged = asked.session.simulation.exchange(call, missing);
  put(response.message, missing);
  if (!exchanged) return;
  for (const ControlMessage& message : exchanged->messages) put(response.message, message);
}

}  // namespace

const Verbs& world_verbs() {
  static const Verbs verbs{
      {Verb::join, join},
      {Verb::exchange, exchange},
      {Verb::compare_collective,
       [](const Asked& asked, Response&) {
         asked.session.simulation.compare_collective(asked.session.rank, get_attendance(asked.question));
       }},
      {Verb::note,
       [](const Asked& asked, Response&) {
         const Telling telling = get_enum(asked.question, Telling::unless_failed);
         asked.session.simulation.note(get_finding(asked.question), telling);
       }},
      {Verb::lends_tensors,
       [](const Asked& asked, Response& response) {
         response.message.put(asked.session.simulation.lends_tensors());
       }},
      {Verb::call_begins,
       [](const Asked& asked, Response&) {
         asked.session.simulation.call_begins(asked.session.rank, get_call(asked.question));
       }},
      {Verb::call_ends,
       [](const Asked& asked, Response&) {
         const auto record = asked.question.get<std::uint64_t>();
         asked.session.simulation.call_ends(asked.session.rank, record,
                                            get_enum(asked.question, trace::Ending::cut_off));
       }},
  };
  return verbs;
}

}  // namespace dist::sim
