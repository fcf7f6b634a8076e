#include "dist/backend/mpi/watch.h"

#include <algorithm>

#include "dist/core/fail.h"

namespace dist::mpi {
namespace {

using namespace std::chrono_literals;

constexpr Timeout between_looks = 1ms;
constexpr Timeout first_look_at_others = 20ms;  // most operations have ended by then
// How long to wait for what a rank had sent before it left: MPI still delivers that.
constexpr Timeout patience_with_the_gone = 1s;
// Tags of the group's channels: no collective has a number this high, and no rank sends there.
constexpr std::uint64_t silent_tags = std::uint64_t{1} << 60;

}  // namespace

Watch::Watch(std::shared_ptr<Endpoint> endpoint, TransportOptions options, const Operation& operation)
    : endpoint_(std::move(endpoint)),
      options_(std::move(options)),
      kind_(operation.kind),
      peer_(is_collective(kind_) ? any_rank : operation.peer),
      next_look_(since_ + between_looks) {}

void Watch::look() {
  const auto now = Clock::now();
  if (now < next_look_ && now < options_.deadline.when()) return;
  next_look_ = now + between_looks;
  if (options_.deadline.passed()) fail_in_time();
  if (now >= since_ + first_look_at_others) look_at_the_others(now);
}

void Watch::look_at_the_others(Clock::time_point now) {
  if (!transport_) {
    TransportOptions options = options_;
    options.channel = {options_.channel.context, silent_tags | options_.label.sequence, 0, false};
    options.deadline = Deadline::never();
    transport_ = endpoint_->open(std::move(options));
    const auto bytes = static_cast<std::int64_t>(options_.bytes);
    silence_ = transport_->irecv({nullptr, bytes, DType::u8}, peer_);
  }
  if (!trouble_) trouble_ = reason();
  if (trouble_ && now >= fatal_from_) std::rethrow_exception(trouble_);
}

// Null: nothing has happened.
std::exception_ptr Watch::reason() try {
  if (!silence_.is_completed()) return nullptr;
  silence_.wait();
  fail(Errc::internal, "a message came where none is sent");
} catch (const Error& error) {
  fatal_from_ = Clock::now();
  if (error.code() != Errc::peer_failed) return std::current_exception();
  fatal_from_ += patience_with_the_gone;
  if (kind_ != OpKind::send) return std::current_exception();
  return std::make_exception_ptr(Error(
      Errc::peer_failed, fmt::format("rank {}: {} cannot end: rank {}, which has not received it, died or "
                                     "left the job; did it end before this operation?",
                                     endpoint_->rank(), str(options_.label), options_.members[peer_])));
}

void Watch::fail_in_time() const {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since_).count();
  const std::string who = fmt::format("rank {}: {}", endpoint_->rank(), str(options_.label));
  if (is_collective(kind_))
    fail(Errc::timeout, "{} did not end within {} ms; are the others alive and calling the same collective?",
         who, ms);
  const bool is_send = kind_ == OpKind::send, anyone = peer_ == any_rank;
  fail(Errc::timeout, "{}: {} {} within {} ms; has {} {}, in this group and with this tag?", who,
       anyone ? "no rank" : fmt::format("rank {}", options_.members[peer_]),
       is_send  ? "did not take it"
       : anyone ? "sent it"
                : "did not send it",
       ms, anyone ? "any rank" : "that rank", is_send ? "posted its receive" : "sent it");
}

}  // namespace dist::mpi
