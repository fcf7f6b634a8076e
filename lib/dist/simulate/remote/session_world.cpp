// What a session does for a process's VirtualWorld and Inspector.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "dist/core/fail.h"
#include "dist/simulate/remote/session.h"

namespace dist::sim {
namespace {

void join(const Asked& asked, Response& response) {
  const Job job = asked.session.simulation.join(asked.session.rank);
  response.message.put(job.rank).put(job.world_size).put(job.local_rank).put(job.local_world_size);
  response.message.put(std::string_view(job.launcher));
}

// The numbers of a message's data, as new_group.cpp writes them.
std::vector<std::int64_t> numbers_in(const std::string& data) {
  std::istringstream text(data);
  return {std::istream_iterator<std::int64_t>(text), {}};
}

// A control call must not carry what its name does not say, as it is not counted as a message: what the other
// ranks read is written here. False: an unknown call, which stays as it is; a watcher is told its
// name.
bool write_anew(const Session& session, ControlMessage& message) {
  const std::string_view name = std::string_view(message.call).substr(0, message.call.find('('));
  if (name == "init_process_group") {
    constexpr std::string_view levels = "012";  // DIST_DEBUG
    const bool has_level = !message.data.empty() && levels.find(message.data[0]) != levels.npos;
    message.data = fmt::format("{} 0\n\n", has_level ? message.data[0] : '0');
    return true;
  }
  const auto numbers = numbers_in(message.data);
  if (name == "new_group") {
    message.data = fmt::format("{} 0", session.next_context);
    return true;
  }
  if (name != "split_group") return false;
  if (numbers.size() != 4) fail(Errc::connection, "a split without its color and key");
  message.data = fmt::format("{} {} {} 0", session.next_context, numbers[1], numbers[2]);
  return true;
}

// The number of the group that was made: as agree_on_context() says.
std::uint32_t next_context(const Exchanged& exchanged) {
  std::int64_t highest = 0;
  for (const ControlMessage& message : exchanged.messages)
    if (const auto numbers = numbers_in(message.data); !numbers.empty())
      highest = std::max(highest, numbers[0]);
  return static_cast<std::uint32_t>(highest) + 1;
}

void exchange(const Asked& asked, Response& response) {
  Session& session = asked.session;
  BoardCall call = get_board_call(asked.question, session.rank, session.ranks());
  const bool is_known = write_anew(session, call.message);
  if (session.options.exchanged) session.options.exchanged(session.rank, call.message);
  std::vector<int> missing;
  const auto exchanged = session.simulation.exchange(call, missing);
  put(response.message, missing);
  if (!exchanged) return;
  const bool agreed = exchanged->agreed();
  if (!agreed && !session.failure)
    session.failure =
        Error(Errc::mismatch, fmt::format("rank {}: the ranks disagree in {} at {}", session.rank,
                                          call.message.call, call.message.place.str()));
  const bool makes_group = !call.message.call.starts_with("init_process_group");
  if (agreed && is_known && makes_group) session.next_context = next_context(*exchanged);
  for (ControlMessage message : exchanged->messages) {
    if (agreed && is_known) message.where.clear(), message.place = {};  // only said where they disagree
    put(response.message, message);
  }
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
      {Verb::compare_copies,
       [](const Asked& asked, Response&) {
         asked.session.simulation.compare_copies(asked.session.rank, get_group_copies(asked.question));
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
