// SimTransport: posting, waiting for and cancelling requests in the simulated network, and the errors of lost
// ranks, ranks that gave up, timeouts and mismatches, in the same words as on the host. Then SimEndpoint,
// which opens transports and leaves the job.
#include "dist/sim/transport.h"

#include <algorithm>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/values.h"
#include "dist/sim/tracer.h"
#include "dist/trace/readable.h"
#include "dist/transport/message.h"

namespace dist::sim {

std::uint32_t CallSites::number_of(std::string_view name, CallSite where) {
  for (std::uint32_t i = 1; i < sites_.size(); ++i) {
    const Site& site = sites_[i];
    if (site.where.line == where.line && site.where.file == where.file && site.name == name) return i;
  }
  sites_.push_back({std::string(name), where});
  return static_cast<std::uint32_t>(sites_.size()) - 1;
}

std::uint32_t CallSites::number_again(std::uint32_t number) {
  sites_.push_back(sites_[number]);
  return static_cast<std::uint32_t>(sites_.size()) - 1;
}

SimTransport::SimTransport(Fabric& fabric, TransportOptions options, int global_rank,
                           const std::string* aborted, std::size_t before)
    : fabric_(fabric),
      options_(std::move(options)),
      aborted_(aborted),
      before_(before),
      deadline_(from_deadline(options_.deadline)),
      site_(fabric.sites.number_of(options_.label.name, options_.label.where)),
      global_rank_(global_rank),
      rank_(options_.members.group_rank_of(global_rank)) {}

Network::Post SimTransport::post(const TensorView& data, int peer, bool is_send) const {
  const Channel& channel = options_.channel;
  std::uint32_t site = site_;
  if (Tracer* const tracer = fabric_.scheduler.tracer()) {
    site = fabric_.sites.number_again(site);
    tracer->posting(site, global_rank_, options_, data, is_send, fabric_.scheduler.clock());
  }
  return {.rank = global_rank_,
          .peer = peer,
          .key = {channel.tag, channel.context * 2 + (channel.point_to_point ? 1U : 0U)},
          .opcode = channel.opcode,
          .data = has_values(data.dtype) ? data.data : nullptr,
          .bytes = data.bytes(),
          .now = fabric_.scheduler.clock(),
          .site = site};
}

void SimTransport::check_usable() const {
  fabric_.scheduler.check_alive();
  if (is_aborted()) fail(Errc::aborted, "{} was given up: {}", subject(), *aborted_);
  if (const LostRank* lost = lost_member(never)) raise_lost(*lost);
}

// The first member of the group that was lost before that time.
const LostRank* SimTransport::lost_member(Time before) const {
  for (const LostRank& lost : fabric_.scheduler.lost()) {
    if (lost.at < before && options_.members.contains(lost.rank)) return &lost;
  }
  return nullptr;
}

const Fabric::GaveUp* SimTransport::member_that_gave_up() const {
  for (std::size_t i = before_; i < fabric_.gave_up.size(); ++i) {
    if (options_.members.contains(fabric_.gave_up[i].rank)) return &fabric_.gave_up[i];
  }
  return nullptr;
}

void SimTransport::refuse_after_giving_up() const {
  if (const auto* const one = member_that_gave_up())
    fail(Errc::peer_failed, "{}: rank {} {}", subject(), one->rank, one->how);
}

void SimTransport::raise_lost(const LostRank& lost) const {
  fabric_.scheduler.check_alive();
  fail(Errc::peer_failed, "{}: rank {} {}", subject(), lost.rank, lost.how());
}

Request SimTransport::isend(TensorView data, int dst) {
  check_usable();
  refuse_after_giving_up();
  Network::Post send = post(data, options_.members[dst], true);
  send.rendezvous = options_.mode == SendMode::rendezvous;
  if (Choices* const choices = fabric_.scheduler.choices(); choices && options_.channel.point_to_point)
    send.rendezvous = choices->choose(ChoicePoint::send_mode, 2) == 0;
  return {this, fabric_.scheduler.network().post_send(send)};
}

Request SimTransport::irecv(TensorView data, int src) {
  check_usable();
  refuse_after_giving_up();
  const int peer = src == any_rank ? any_source : options_.members[src];
  return {this, fabric_.scheduler.network().post_recv(post(data, peer, false))};
}

int SimTransport::wait(std::uint64_t id) {
  const auto request = static_cast<RequestId>(id);
  Network& network = fabric_.scheduler.network();
  bool there = false;
  try {
    fabric_.scheduler.check_alive();
    there = fabric_.scheduler.await(request, deadline_, this);
    const auto in_vain = [&] { return lost_member(never) || member_that_gave_up() || is_aborted(); };
    while (!there && !in_vain() && fabric_.scheduler.clock() < deadline_)
      there = fabric_.scheduler.await(request, deadline_, this);  // a rank of another group is gone
  } catch (...) {
    network.cancel(request);
    throw;
  }
  if (!there) give_up(request);
  const NetRequest& done = network[request];
  if (const LostRank* lost = lost_member(done.fault == Fault::none ? done.at : never)) {
    network.cancel(request);
    raise_lost(*lost);
  }
  if (done.fault != Fault::none) raise(request);
  const int peer = done.peer;
  network.release(request);
  return options_.members.group_rank_of(peer);
}

bool SimTransport::test(std::uint64_t id) {
  return fabric_.scheduler.reached(static_cast<RequestId>(id)) || lost_member(never) || member_that_gave_up();
}

void SimTransport::cancel(std::uint64_t id) noexcept {
  fabric_.scheduler.network().cancel(static_cast<RequestId>(id));
}

std::string SimTransport::subject() const { return fmt::format("rank {}: {}", global_rank_, doing()); }

// Uses the same sentences as on the host (transport/report.h).
void SimTransport::give_up(RequestId id) {
  const NetRequest request = fabric_.scheduler.network()[id];
  fabric_.scheduler.network().cancel(id);
  check_usable();
  if (fabric_.scheduler.clock() < deadline_) refuse_after_giving_up();
  const std::string peer = request.peer == any_source ? "any rank" : fmt::format("rank {}", request.peer);
  const std::string waited = trace::readable_time(fabric_.scheduler.clock() - request.at);
  if (request.bytes == 0)
    fail(Errc::timeout, "{}: waited {} for {}; is that rank alive and calling the same operation?", subject(),
         waited, peer);
  if (request.is_send)
    fail(Errc::timeout, "{}: {} did not receive {} in {}; is that rank alive and calling the same operation?",
         subject(), peer, counted(request.bytes, "byte"), waited);
  fail(Errc::timeout, "{}: got 0 of {} from {} in {}; is that rank alive and calling the same operation?",
       subject(), counted(request.bytes, "byte"), peer, waited);
}

void SimTransport::raise(RequestId id) {
  const NetRequest request = fabric_.scheduler.network()[id];
  fabric_.scheduler.network().release(id);
  const auto* const verb = request.is_send ? "to" : "from";
  switch (request.fault) {
    case Fault::size_mismatch:
      fail(Errc::mismatch, "{}: a message of {} {} rank {} has another size there", subject(),
           counted(request.bytes, "byte"), verb, request.peer);
    case Fault::opcode_mismatch:
      fail(Errc::mismatch,
           "{}: a message {} rank {} belongs to another operation there, or has another dtype, root or "
           "reduction",
           subject(), verb, request.peer);
    case Fault::peer_failed:
      refuse_after_giving_up();  // the peer may have left because of it
      fail(Errc::peer_failed, "{}: a message {} rank {}, which {}", subject(), verb, request.peer,
           fabric_.gone[static_cast<std::size_t>(request.peer)]);
    case Fault::none: break;
  }
  fail(Errc::internal, "{}: a request without a fault was raised", subject());
}

Scratch SimTransport::scratch(const TensorView& like, std::int64_t count) {
  TensorView view = like;
  view.count = count;
  const std::size_t bytes = view.bytes();
  view.data = nullptr;
  if (like.data != nullptr) {
    view.data = static_cast<std::byte*>(fabric_.scheduler.allocate(std::max<std::size_t>(bytes, 1)));
    if (view.data == nullptr)
      fail(Errc::resource, "{}: scratch of {} bytes does not fit into memory", subject(), bytes);
  }
  return {this, view};
}

void SimTransport::free_scratch(TensorView view) noexcept {
  if (view.data != nullptr) fabric_.scheduler.deallocate(view.data, std::max<std::size_t>(view.bytes(), 1));
}

std::unique_ptr<Transport> SimEndpoint::open(TransportOptions options) {
  return std::make_unique<SimTransport>(fabric_, std::move(options), rank_, &aborted_, before_);
}

int SimEndpoint::carry(const Message& message, const MessageTerms& terms, const CallLabel& label) {
  SimTransport net(fabric_, options_for(terms, label), rank_, &aborted_, before_);
  return start(net, message).wait();
}

void SimEndpoint::progress(Timeout patience) {
  constexpr Timeout longest = std::chrono::hours(24);
  fabric_.scheduler.linger(std::min(patience, longest).count() * 1000);
}

void SimEndpoint::abort(const std::string& reason) {
  aborted_ = reason;
  fabric_.scheduler.release_workers(rank_);
}

void SimEndpoint::close(const std::string& reason) noexcept {
  if (fabric_.scheduler.is_lost(rank_)) return;  // no rank receives it
  fabric_.gone[static_cast<std::size_t>(rank_)] =
      reason.empty() ? std::string(has_left) : fmt::format("gave up: {}", reason);
  if (!reason.empty()) fabric_.on_giving_up(rank_, reason);
  fabric_.scheduler.network().fail_rank(rank_, fabric_.scheduler.clock());
}

}  // namespace dist::sim
