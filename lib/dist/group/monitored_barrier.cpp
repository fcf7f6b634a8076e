// A barrier that names who is missing.
#include <exception>

#include "dist/check/who.h"
#include "dist/core/fail.h"
#include "dist/group/call.h"
#include "dist/group/control.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

constexpr Timeout margin = std::chrono::seconds(1);  // for group rank 0's verdict to travel

class MonitoredBarrier {
 public:
  MonitoredBarrier(GroupState& group, Timeout timeout, CallSite where)
      : group_(group), timeout_(timeout), where_(where), number_(group.control_calls++) {}

  std::uint64_t number() const { return number_; }

  // Group rank 0: hears of everybody, then tells those that came who did not.
  void lead() {
    const auto n = static_cast<std::size_t>(group_.size());
    const Deadline deadline = Deadline::after(timeout_);
    std::vector<std::unique_ptr<Transport>> nets(n);
    std::vector<Request> arrivals(n);
    for (std::size_t i = 1; i < n; ++i) {
      nets[i] = open(deadline);
      arrivals[i] = nets[i]->irecv({}, static_cast<int>(i));
    }
    std::vector<std::uint8_t> missing(n, 0);
    std::size_t gone = 0;
    std::exception_ptr why;
    for (std::size_t i = 1; i < n; ++i) {
      try {
        missing[i] = !came(arrivals[i], deadline);
      } catch (const Error& error) {
        if (error.code() != Errc::peer_failed) throw;
        if (gone++ == 0) why = std::current_exception();
        missing[i] = true;
      }
    }
    if (gone == n - 1) std::rethrow_exception(why);  // nobody is left to be told, or a death that all hear of
    tell(missing);
    throw_if_any(missing);
  }

  // The others: the send ends when group rank 0 listens; the verdict comes when it has heard or waited
  // enough.
  void follow() {
    const auto arrive = open(Deadline::after(timeout_));
    if (auto arrival = arrive->isend({}, 0); !came(arrival, Deadline::after(timeout_))) {
      fail(Errc::timeout,
           "rank {}: monitored_barrier at {}: rank {} did not come within {} ms, or had given up before",
           group_.global_rank, where_.str(), group_.global_rank_of(0), ms());
    }
    std::vector<std::uint8_t> missing(static_cast<std::size_t>(group_.size()));
    const auto net = open(Deadline::after(timeout_ >= no_timeout - margin ? no_timeout : timeout_ + margin));
    net->irecv(view_of(missing), 0).wait();
    throw_if_any(missing);
  }

 private:
  // To those that came. One that came and no longer listens has given up before this rank came.
  void tell(std::vector<std::uint8_t>& missing) {
    const Deadline deadline = Deadline::after(margin);
    const auto net = open(deadline);
    std::vector<std::pair<int, Request>> verdicts;
    for (int i = 1; i < group_.size(); ++i) {
      if (!missing[static_cast<std::size_t>(i)])
        verdicts.emplace_back(group_.global_rank_of(i), net->isend(view_of(missing), i));
    }
    std::vector<int> gone;
    for (auto& [rank, verdict] : verdicts)
      if (!came(verdict, deadline)) gone.push_back(rank);
    if (gone.empty()) return;
    fail(Errc::timeout, "rank {}: monitored_barrier at {}: {} had given up before this rank came",
         group_.global_rank, where_.str(), check::list_ranks(gone));
  }

  std::unique_ptr<Transport> open(Deadline deadline) {
    TransportOptions options;
    options.members = group_.identity.ranks;
    options.channel = {group_.identity.context, control_tags | number_, 0, false};
    options.label = {"monitored_barrier", number_, {}, where_};
    options.mode = SendMode::rendezvous;
    options.deadline = deadline;
    return group_.job->endpoint->open(std::move(options));
  }

  static TensorView view_of(std::vector<std::uint8_t>& bytes) {
    return {reinterpret_cast<std::byte*>(bytes.data()), static_cast<std::int64_t>(bytes.size()), DType::u8,
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

  void throw_if_any(const std::vector<std::uint8_t>& missing) const {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < missing.size(); ++i) {
      if (missing[i]) ranks.push_back(group_.global_rank_of(static_cast<int>(i)));
    }
    if (ranks.empty()) return;
    fail(Errc::timeout, "rank {}: monitored_barrier at {}: {} did not come within {} ms", group_.global_rank,
         where_.str(), check::list_ranks(ranks), ms());
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
  if (options.async_op) call.refuse(".async_op: it is synchronous");
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
