// The two sides of a message. A sender offers its data at once, so that messages come in order (offer). Then
// its stream reaches the data (tell_reached), the receiver answers (hear_receipt), and where it asks for it
// the data goes through the host (give_through_host). On the receiver's side an offer comes (take_offer), the
// data is there (begin_copy), the copy ends (answer); or the data comes through the host (take_through_host).
// advance() goes from stage to stage; has_come() and has_reached() wait.
#include "dist/direct/device/device_message.h"

#include <thread>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"
#include "dist/core/log.h"

namespace dist {

namespace {

// Tags of the library's own, plus the number of the message.
constexpr std::uint64_t answers_tag = std::uint64_t{1} << 62, reached_tag = std::uint64_t{2} << 62,
                        data_tag = std::uint64_t{3} << 62;

// A wait for the device polls for this long, then sleeps until the device wakes it.
constexpr std::chrono::microseconds poll_device_for{200};
constexpr Timeout sleep_on_device_for = std::chrono::milliseconds(5);

}  // namespace

DeviceMessage::DeviceMessage(DeviceMessages& messages, TransportOptions options, Device device,
                             std::shared_ptr<CopyBatch> batch)
    : messages_(messages),
      options_(std::move(options)),
      device_(device),
      offers_([&] {
        TransportOptions of_offers = options_;
        of_offers.mode = SendMode::eager;
        of_offers.channel.opcode =
            opcode_of(OpKind::send, dtype_of(options_.channel.opcode), on_device_terms);
        return messages_.endpoint_->open(std::move(of_offers));
      }()),
      batch_(std::move(batch)) {}

DeviceMessage::~DeviceMessage() {
  came_ = Request();
  if (lane_) messages_.give_back(std::move(lane_));
}

std::unique_ptr<Transport> DeviceMessage::open(std::uint64_t tag) {
  TransportOptions options = options_;
  options.mode = SendMode::eager;
  options.channel.tag = tag + offer_.number;
  options.channel.opcode = 0;
  return messages_.endpoint_->open(std::move(options));
}

Request DeviceMessage::isend(TensorView data, int dst) {
  data_ = data;
  peer_ = dst;
  lane_ = messages_.take_lane(device_);
  lane_->event.record(current_stream(device_));
  offer();
  return {this, 0};
}

Request DeviceMessage::irecv(TensorView data, int src) {
  data_ = data;
  if (!batch_) batch_ = messages_.batch(device_, 1);
  came_ = offers_->irecv(as_bytes(offer_), src);
  stage_ = Stage::expecting;
  return {this, 0};
}

bool DeviceMessage::has_come(bool blocks) {
  if (!blocks && !came_.is_completed()) return false;
  peer_ = came_.wait();
  return true;
}

// `wake` makes the device interrupt progress(), by which a thread sleeps that moves messages: this one, or
// the one that polls this message when no thread waits for it.
template <class Done, class Wake>
bool DeviceMessage::has_reached(bool blocks, const Done& done, const Wake& wake) {
  using SteadyClock = std::chrono::steady_clock;
  const auto begin = SteadyClock::now();
  while (!done()) {
    if (blocks && SteadyClock::now() - begin < poll_device_for) {
      std::this_thread::yield();
      continue;
    }
    if (!wakes_) wakes_ = wake();
    if (!wakes_) messages_.endpoint_->interrupt();  // so that it is asked again at once
    if (!blocks) return false;
    if (options_.deadline.passed())
      fail(Errc::timeout, "rank {}: {}: {} has not reached its data in time; what was enqueued before it?",
           options_.members[rank()], str(options_.label), device_.str());
    messages_.endpoint_->progress(sleep_on_device_for);
  }
  wakes_ = false;
  return true;
}

bool DeviceMessage::advance(bool blocks) {
  const bool is_for_host = stage_ != Stage::reaching && stage_ != Stage::copying && stage_ != Stage::over;
  if (is_for_host && !has_come(blocks)) return false;
  switch (stage_) {
    case Stage::reaching: {
      const auto wake = [&] {
        lane_->event.make_wait(device_, lane_->stream.handle());
        messages_.wake(*lane_);
        return true;
      };
      if (!has_reached(
              blocks, [&] { return lane_->event.is_done(); }, wake))
        return false;
      tell_reached();
      return true;
    }
    case Stage::offered: hear_receipt(); return true;
    case Stage::expecting: take_offer(); return true;
    case Stage::following: begin_copy(); return true;
    case Stage::copying:
      if (!has_reached(
              blocks, [&] { return batch_->has_ended(launch_); },
              [&] { return batch_->wake_when_ended(launch_); }))
        return false;
      answer(Answer::taken);
      stage_ = Stage::over;
      return true;
    case Stage::taking: take_through_host(); return true;
    case Stage::giving: stage_ = Stage::over; return true;
    case Stage::over: return true;
  }
  __builtin_unreachable();
}

void DeviceMessage::offer() {
  offer_.number = messages_.next_number();
  offer_.process = process_number();
  offer_.device = device_.index;
  offer_.way = Way::through_host;
  offer_.place.bytes = data_.bytes();
  const bool is_thread =
      messages_.endpoint_->link_kind(options_.members[peer_]) == "thread" || peer_ == rank();
  if (node_of(peer_) == node_of(rank())) {
    try {
      offer_.place = messages_.maps(device_).place_of(data_, !is_thread);
      offer_.way = Way::mapped;
    } catch (const Error& error) {
      log(LogLevel::info, "a message goes through the host: {}", error.what());
    }
  }
  if (peer_ == rank()) lane_->event.synchronize();  // the receive may be this thread's next call
  offer_.is_there = lane_->event.is_done() ? 1 : 0;
  answers_ = open(answers_tag);
  came_ = answers_->irecv(as_bytes(receipt_), peer_);
  stage_ = offer_.is_there != 0 ? Stage::offered : Stage::reaching;
  offers_->isend(as_bytes(offer_), peer_).wait();  // small enough to be sent at once
}

void DeviceMessage::tell_reached() {
  stage_ = Stage::offered;
  open(reached_tag)->isend(as_bytes(word_), peer_).wait();
}

void DeviceMessage::hear_receipt() {
  if (receipt_.answer == Answer::refused) fail_sizes(data_.bytes(), receipt_.bytes);
  if (receipt_.answer == Answer::send_it) return give_through_host();
  stage_ = Stage::over;
}

void DeviceMessage::give_through_host() {
  host_ = empty({data_.count}, data_.dtype, cpu);
  DeviceApi& api = device_api(device_.type);
  if (data_.count > 0) {
    api.copy(device_, lane_->stream.handle(), host_.raw(), data_.data, data_.bytes());
    lane_->stream.synchronize();
  }
  data_channel_ = open(data_tag);
  came_ = data_channel_->isend(host_.flat(), peer_);
  stage_ = Stage::giving;
}

void DeviceMessage::take_offer() {
  if (offer_.place.bytes != data_.bytes()) {
    answer(Answer::refused);
    fail_sizes(offer_.place.bytes, data_.bytes());
  }
  from_ = data_;
  if (data_.count > 0) from_.data = offer_.way == Way::mapped ? reach() : nullptr;
  if (data_.count > 0 && !from_.data) {
    batch_->leave();
    lane_ = messages_.take_lane(device_);
    host_ = empty({data_.count}, data_.dtype, cpu);
    data_channel_ = open(data_tag);
    came_ = data_channel_->irecv(host_.flat(), peer_);
    stage_ = Stage::taking;
    return answer(Answer::send_it);
  }
  if (offer_.is_there != 0) return begin_copy();
  data_channel_ = open(reached_tag);
  came_ = data_channel_->irecv(as_bytes(word_), peer_);
  stage_ = Stage::following;
}

void DeviceMessage::begin_copy() {
  launch_ = batch_->add(data_, from_);
  stage_ = Stage::copying;
}

std::byte* DeviceMessage::reach() noexcept {
  try {
    const bool same = offer_.process == process_number();
    const Device theirs = cuda(static_cast<int>(offer_.device));
    if (same && !device_api(device_.type).reaches(device_, theirs)) return nullptr;
    return messages_.maps(device_).address_of(options_.members[peer_], same, offer_.place);
  } catch (const std::exception& error) {
    log(LogLevel::info, "a message goes through the host: {}", error.what());
    return nullptr;
  }
}

void DeviceMessage::answer(Answer answer) {
  Receipt receipt{answer, data_.bytes()};
  open(answers_tag)->isend(as_bytes(receipt), peer_).wait();
}

void DeviceMessage::take_through_host() {
  if (data_.count > 0) {
    batch_->make_wait(lane_->stream.handle());
    device_api(device_.type).copy(device_, lane_->stream.handle(), data_.data, host_.raw(), data_.bytes());
    lane_->stream.synchronize();
  }
  stage_ = Stage::over;
}

void DeviceMessage::fail_sizes(std::uint64_t sent, std::uint64_t expected) const {
  const int own = options_.members[rank()], other = options_.members[peer_];
  const bool sends = stage_ == Stage::offered;  // otherwise it receives
  fail(Errc::mismatch, "rank {}: {}: rank {} sends {}, and rank {} expects {}; do both pass equal sizes?",
       own, str(options_.label), sends ? own : other, counted(sent, "byte"), sends ? other : own, expected);
}

int DeviceMessage::wait(std::uint64_t) {
  if (failure_) std::rethrow_exception(failure_);
  while (stage_ != Stage::over) advance(true);
  return peer_;
}

// An error is kept for wait().
bool DeviceMessage::test(std::uint64_t) {
  try {
    while (!failure_ && stage_ != Stage::over)
      if (!advance(false)) return false;
  } catch (...) {
    failure_ = std::current_exception();
  }
  return true;
}

void DeviceMessage::cancel(std::uint64_t) noexcept {
  came_ = Request();
  if (stage_ == Stage::expecting || stage_ == Stage::following) batch_->leave();
  stage_ = Stage::over;
}

Scratch DeviceMessage::scratch(const TensorView&, std::int64_t) {
  fail(Errc::internal, "a message needs no scratch memory");
}

void DeviceMessage::free_scratch(TensorView) noexcept {}

}  // namespace dist
