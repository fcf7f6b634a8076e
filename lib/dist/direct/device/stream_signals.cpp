// Three kinds of StreamSignals: by events between threads, by flags in shared host memory that streams write
// and wait for, and by the host (DIST_CUDA_SYNC). FlagPages places the flags, a cache line each; EventBoard
// keeps one rank's events.
#include "dist/direct/device/stream_signals.h"

#include <cstdlib>

#include "dist/core/device/registered_pages.h"
#include "dist/core/fail.h"

namespace dist {

namespace {

class EventSignals final : public StreamSignals {
 public:
  EventSignals(Device device, int rank, std::vector<EventBoard*> boards)
      : device_(device), rank_(rank), boards_(std::move(boards)) {}

  void signal(const Signal& signal, StreamHandle stream) override {
    boards_[rank_index(rank_)]->at(signal).record(stream);
  }
  void await(int rank, const Signal& signal, StreamHandle stream) override {
    boards_[rank_index(rank)]->at(signal).make_wait(device_, stream);
  }
  bool needs_meeting() const override { return true; }

 private:
  const Device device_;
  const int rank_;
  const std::vector<EventBoard*> boards_;
};

class FlagSignals final : public StreamSignals {
 public:
  FlagSignals(Device device, int rank, const std::vector<FlagPages*>& pages, bool share_process)
      : api_(device_api(device.type).shared_from_this()),
        device_(device),
        rank_(rank),
        share_process_(share_process) {
    const std::size_t bytes = FlagPages::bytes(static_cast<int>(pages.size()));
    for (FlagPages* const of_rank : pages) pages_.emplace_back(device, of_rank, bytes);
  }

  void signal(const Signal& signal, StreamHandle stream) override {
    api_->write_flag(device_, stream, &flags_of(rank_).at(signal), signal.number);
  }
  void await(int rank, const Signal& signal, StreamHandle stream) override {
    api_->wait_flag(device_, stream, &flags_of(rank).at(signal), signal.number);
  }
  bool needs_meeting() const override { return share_process_; }
  void release() noexcept override {
    const auto ranks = static_cast<int>(pages_.size());
    for (int rank = 0; rank < ranks; ++rank) flags_of(rank).release(ranks);
  }

 private:
  FlagPages& flags_of(int rank) const {
    return *reinterpret_cast<FlagPages*>(pages_[rank_index(rank)].data());
  }

  const std::shared_ptr<DeviceApi> api_;
  const Device device_;
  const int rank_;
  const bool share_process_;
  std::vector<RegisteredPages> pages_;  // by rank
};

class HostSignals final : public StreamSignals {
 public:
  explicit HostSignals(Device device) : api_(device_api(device.type).shared_from_this()), device_(device) {}

  void signal(const Signal&, StreamHandle stream) override { api_->synchronize(device_, stream); }
  void await(int, const Signal&, StreamHandle) override {}
  bool needs_meeting() const override { return true; }

 private:
  const std::shared_ptr<DeviceApi> api_;
  const Device device_;
};

}  // namespace

std::string_view name(SyncMode mode) {
  switch (mode) {
    case SyncMode::events: return "events";
    case SyncMode::flags: return "flags";
    case SyncMode::host: return "host";
  }
  __builtin_unreachable();
}

std::optional<SyncMode> wanted_sync() {
  const char* const value = std::getenv("DIST_CUDA_SYNC");
  if (!value || *value == '\0') return std::nullopt;
  for (const SyncMode mode : {SyncMode::events, SyncMode::flags, SyncMode::host})
    if (name(mode) == value) return mode;
  fail(Errc::invalid_argument, "DIST_CUDA_SYNC is \"{}\"; there are events, flags and host", value);
}

namespace {

constexpr std::size_t first_message_line = 3;  // after broken, ready and done

std::size_t lines_for(int ranks) { return first_message_line + 2 * rank_index(ranks); }

}  // namespace

std::size_t FlagPages::bytes(int ranks) { return whole_pages(lines_for(ranks) * sizeof(Line)); }

FlagPages* FlagPages::make(void* pages, int ranks) {
  std::uninitialized_value_construct_n(static_cast<Line*>(pages), lines_for(ranks));
  return static_cast<FlagPages*>(pages);
}

StreamFlag& FlagPages::at(const Signal& signal) {
  switch (signal.point) {
    case Point::ready: return lines()[1].value;
    case Point::done: return lines()[2].value;
    case Point::sent: return lines()[first_message_line + 2 * rank_index(signal.to)].value;
    case Point::taken: return lines()[first_message_line + 2 * rank_index(signal.to) + 1].value;
  }
  __builtin_unreachable();
}

void FlagPages::release(int ranks) {
  for (std::size_t i = 1; i < lines_for(ranks); ++i) lines()[i].value.store(released_flag);
}

EventBoard::EventBoard(Device device, int ranks) {
  for (const Point point : {Point::ready, Point::done, Point::sent, Point::taken}) {
    const bool is_message = point == Point::sent || point == Point::taken;
    const std::uint64_t events = StreamSignals::depth(point) * (is_message ? rank_index(ranks) : 1);
    auto& of_point = events_[static_cast<std::size_t>(point)];
    for (std::uint64_t i = 0; i < events; ++i) of_point.emplace_back(device);
  }
}

std::unique_ptr<StreamSignals> make_event_signals(Device device, int rank, std::vector<EventBoard*> boards) {
  return std::make_unique<EventSignals>(device, rank, std::move(boards));
}

std::unique_ptr<StreamSignals> make_flag_signals(Device device, int rank,
                                                 const std::vector<FlagPages*>& pages, bool share_process) {
  return std::make_unique<FlagSignals>(device, rank, pages, share_process);
}

std::unique_ptr<StreamSignals> make_host_signals(Device device) {
  return std::make_unique<HostSignals>(device);
}

}  // namespace dist
