// A barrier that names the ranks that are missing. lead(), on group rank 0, hears from every rank and then
// tells the ranks that came which did not; follow(), on the others, sends a message and waits for that
// verdict. The last part words the error.
#include <exception>

#include <fmt/ranges.h>

#include "dist/check/who.h"
#include "dist/core/fail.h"
#include "dist/group/call.h"
#include "dist/group/diagnosis/control_record.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

// Tags of the barrier's channel for ranks that report that they have given up.
constexpr std::uint64_t given_up_tags = std::uint64_t{1} << 59;
constexpr Timeout margin = std::chrono::seconds(1);  // extra time for group rank 0's verdict to arrive

class MonitoredBarrier {
 public:
  MonitoredBarrier(GroupState& group, Timeout timeout, CallSite where)
      : group_(group), timeout_(timeout), where_(where), number_(group.control_calls++) {}

  std::uint64_t number() const { return number_; }

  // On group rank 0: hears from every rank, then sends the verdict to those that came.
  void lead() {
    const auto n = static_cast<std::size_t>(group_.size());
    const Deadline deadline = Deadline::after(timeout_);
    std::vector<std::unique_ptr<Transport>> nets(n);
    std::vector<Request> arrivals(n);
    for (std::size_t i = 1; i < n; ++i) {
      nets[i] = open(deadline);
      arrivals[i] = nets[i]->irecv({}, static_cast<int>(i));
    }
    std::vector<Fate> fates(n, Fate::came);
    std::size_t gone = 0;
    std::exception_ptr why;
    for (std::size_t i = 1; i < n; ++i) {
      try {
        if (!came(arrivals[i], deadline))
          fates[i] = said_so(static_cast<int>(i)) ? Fate::gave_up : Fate::late;
      } catch (const Error& error) {
        if (error.code() != Errc::peer_failed) throw;
        if (gone++ == 0) why = std::current_exception();
        fates[i] = Fate::left;
      }
    }
    if (gone == n - 1) std::rethrow_exception(why);  // no rank is left to notify
    tell(fates);
    throw_if_any(fates);
  }

  // On the other ranks: the send ends when group rank 0 listens; the verdict comes when it has heard from
  // all, or waited long enough.
  void follow() {
    const auto arrive = open(Deadline::after(timeout_));
    if (auto arrival = arrive->isend({}, 0); !came(arrival, Deadline::after(timeout_))) {
      say_so();
      fail(Errc::timeout,
           "rank {}: monitored_barrier at {}: rank {} did not come within {} ms, or had given up before",
           group_.global_rank, where_.str(), group_.global_rank_of(0), ms());
    }
    std::vector<Fate> fates(static_cast<std::size_t>(group_.size()));
    const auto net = open(Deadline::after(timeout_ >= no_timeout - margin ? no_timeout : timeout_ + margin));
    net->irecv(view_of(fates), 0).wait();
    throw_if_any(fates);
  }

 private:
  // What has become of a rank.
  enum class Fate : std::uint8_t { came, late, left, gave_up };

  // Notifies those that came. A rank that came and no longer listens had given up before this rank came.
  void tell(std::vector<Fate>& fates) {
    const Deadline deadline = Deadline::after(margin);
    const auto net = open(deadline);
    std::vector<std::pair<int, Request>> verdicts;
    for (int i = 1; i < group_.size(); ++i)
      if (fates[static_cast<std::size_t>(i)] == Fate::came)
        verdicts.emplace_back(i, net->isend(view_of(fates), i));
    std::vector<int> silent;
    for (auto& [rank, verdict] : verdicts)
      if (!came(verdict, deadline)) silent.push_back(rank);
    for (const int rank : silent) fates[static_cast<std::size_t>(rank)] = Fate::gave_up;
  }

  // A simulated rank that has given up leaves no other trace than this message.
  void say_so() {
    if (group_.job->context.virtual_world) open(Deadline::never(), given_up_tags)->isend({}, 0).wait();
  }
  bool said_so(int rank) {
    if (!group_.job->context.virtual_world) return false;
    const auto net = open(Deadline::never(), given_up_tags);
    return net->irecv({}, rank).is_completed();
  }

  std::unique_ptr<Transport> open(Deadline deadline, std::uint64_t tags = 0) {
    TransportOptions options;
    options.members = group_.identity.ranks;
    options.channel = {group_.identity.context, control_tags | tags | number_, 0, false};
    options.label = {
        std::string(tags == given_up_tags ? gave_up_label : "monitored_barrier"), number_, {}, where_};
    options.mode = tags == given_up_tags ? SendMode::eager : SendMode::rendezvous;
    options.deadline = deadline;
    return group_.job->endpoint->open(std::move(options));
  }

  static TensorView view_of(std::vector<Fate>& fates) {
    return {reinterpret_cast<std::byte*>(fates.data()), static_cast<std::int64_t>(fates.size()), DType::u8,
            cpu};
  }

  static bool came(Request& request, Deadline deadline) {
    try {
      if (deadline.passed() && !request.is_completed()) return false;
      request.wait();
      return true;
    } catch (const Error& error) {
      if (error.code() != Errc::timeout) throw;
      return false;
    }
  }

  void throw_if_any(const std::vector<Fate>& fates) const {
    std::vector<std::string> parts;
    const auto list = [&](Fate fate, std::string_view one, std::string_view several,
                          const std::string& rest) {
      std::vector<int> ranks;
      for (std::size_t i = 0; i < fates.size(); ++i)
        if (fates[i] == fate) ranks.push_back(group_.global_rank_of(static_cast<int>(i)));
      if (!ranks.empty())
        parts.push_back(
            fmt::format("{} {} {}", check::list_ranks(ranks), ranks.size() == 1 ? one : several, rest));
      return !ranks.empty();
    };
    const bool left = list(Fate::left, "has", "have", "left the job");
    list(Fate::late, "did", "did", fmt::format("not come within {} ms", ms()));
    list(Fate::gave_up, "had", "had",
         fmt::format("given up before {} came",
                     group_.rank == 0 ? "this rank" : fmt::format("rank {}", group_.global_rank_of(0))));
    if (parts.empty()) return;
    fail(left ? Errc::peer_failed : Errc::timeout, "rank {}: monitored_barrier at {}: {}", group_.global_rank,
         where_.str(), fmt::join(parts, ", and "));
  }

  long long ms() const { return std::chrono::duration_cast<std::chrono::milliseconds>(timeout_).count(); }

  GroupState& group_;
  const Timeout timeout_;
  const CallSite where_;
  const std::uint64_t number_;
};

}  // namespace

void monitored_barrier(Timeout timeout, const Options& options, Caller at) {
  const Call call(OpKind::barrier, "monitored_barrier", options, at);
  if (options.async_op) call.refuse(".async_op is not possible: this call is synchronous");
  if (timeout < Timeout::zero()) call.refuse("the timeout is negative");
  GroupState& group = call.group;
  if (group.size() == 1) return;
  MonitoredBarrier barrier(group, timeout, at);
  ControlRecord record(group, {"monitored_barrier", at, timeout}, barrier.number());
  try {
    group.rank == 0 ? barrier.lead() : barrier.follow();
    record.completed();
  } catch (const Error& error) {
    record.failed(error);
  }
}

}  // namespace dist
