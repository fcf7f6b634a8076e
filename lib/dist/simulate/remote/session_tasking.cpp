// The session's handlers for a process's Tasking (the clock, waits, memory) and for the life of its tasks.
// Sizes that a process claims are checked before they are used.
#include <bit>

#include "dist/core/fail.h"
#include "dist/core/tasking.h"
#include "dist/simulate/remote/session.h"

namespace dist::sim {
namespace {

class RemoteReason final : public WaitReason {
 public:
  explicit RemoteReason(wire::Reader& from)
      : doing_(from.text()), where_(get_place(from)), waits_for_(get_numbers(from)) {}

  std::string doing() const override { return doing_; }
  CallSite where() const override { return where_; }
  std::vector<int> waits_for() const override { return waits_for_; }

 private:
  std::string doing_;
  CallSite where_;
  std::vector<int> waits_for_;
};

void greet(const Asked& asked, Response& response) {
  const Session& session = asked.session;
  response.message.put(session.rank).put(session.ranks()).put(session.simulation.gpus_per_node());
  response.message.put(session.simulation.checks());
  response.message.put(session.simulation.traces());
  response.message.put(std::uint64_t{session.simulation.recorder_size()});
  put(response.message, session.simulation.costs());
}

void note_failure(const Asked& asked, Response&) {
  const Errc code = get_enum(asked.question, Errc::internal);
  asked.session.failure = Error(code, std::string(asked.question.text()));
}

void wait(const Asked& asked, Response& response) {
  auto& lists = asked.session.lists;
  const auto key = asked.question.get<std::uint64_t>();
  const Deadline deadline = get_deadline(asked.question);
  std::optional<RemoteReason> reason;
  if (asked.question.get<std::uint8_t>() != 0) reason.emplace(asked.question);
  if (lists.size() >= asked.session.options.most_open)
    fail(Errc::connection, "more than {} lists of waiting tasks", asked.session.options.most_open);
  const bool notified = Tasking::current()->wait(lists[key], deadline, reason ? &*reason : nullptr);
  if (const auto list = lists.find(key); list != lists.end() && !list->second.first) lists.erase(list);
  response.message.put(notified);
}

void notify(const Asked& asked, Response&) {
  const auto list = asked.session.lists.find(asked.question.get<std::uint64_t>());
  if (list != asked.session.lists.end()) Tasking::current()->notify_all(list->second);
}

void charge(const Asked& asked, Response&) {
  Tasking::current()->charge(std::bit_cast<double>(asked.question.get<std::uint64_t>()));
}

const void* address(wire::Reader& from) { return reinterpret_cast<const void*>(from.get<std::uintptr_t>()); }

// A size that a process claims.
std::size_t size(wire::Reader& from) {
  constexpr auto most = std::uint64_t{1} << 48;
  const auto bytes = from.get<std::uint64_t>();
  if (bytes > most) fail(Errc::resource, "{} bytes do not fit into memory", bytes);
  return bytes;
}

}  // namespace

const Verbs& tasking_verbs() {
  static const Verbs verbs{
      {Verb::hello, greet},
      {Verb::failed, note_failure},
      {Verb::now,
       [](const Asked&, Response& response) {
         response.message.put(Tasking::current()->now().time_since_epoch().count());
       }},
      {Verb::sleep_until,
       [](const Asked& asked, Response&) {
         Tasking::current()->sleep_until(get_deadline(asked.question).when());
       }},
      {Verb::wait, wait},
      {Verb::notify, notify},
      {Verb::start,
       [](const Asked& asked, Response&) { asked.session.start_task(asked.channel.take_passed()); }},
      {Verb::charge, charge},
      {Verb::reduced,
       [](const Asked& asked, Response&) {
         const void *const to = address(asked.question), *const from = address(asked.question);
         Tasking::current()->reduced(to, from, size(asked.question));
       }},
      {Verb::copied,
       [](const Asked& asked, Response&) {
         const void *const to = address(asked.question), *const from = address(asked.question);
         Tasking::current()->copied(to, from, size(asked.question));
       }},
      {Verb::at_store, [](const Asked&, Response&) { Tasking::current()->at_store(); }},
      {Verb::allocate,
       [](const Asked& asked, Response&) {
         asked.session.simulation.memory(asked.session.rank,
                                         static_cast<std::ptrdiff_t>(size(asked.question)));
       }},
      {Verb::deallocate,
       [](const Asked& asked, Response&) {
         asked.session.simulation.memory(asked.session.rank,
                                         -static_cast<std::ptrdiff_t>(size(asked.question)));
       }},
  };
  return verbs;
}

}  // namespace dist::sim
