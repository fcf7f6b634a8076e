#include "dist/transport/stream_signals.h"

#include <cstdlib>

#include "dist/core/fail.h"

namespace dist {

namespace {

class EventSignals final : public StreamSignals {
 public:
  EventSignals(Device device, int rank, std::vector<EventBoard*> boards)
      : device_(device), rank_(rank), boards_(std::move(boards)) {}

  void signal(Point point, std::uint64_t round, StreamHandle stream) override {
    boards_[rank_index(rank_)]->at(point, round).record(stream);
  }
  void await(int rank, Point point, std::uint64_t round, StreamHandle stream) override {
    boards_[rank_index(rank)]->at(point, round).make_wait(device_, stream);
  }
  bool needs_meeting() const override { return true; }

 private:
  const Device device_;
  const int rank_;
  const std::vector<EventBoard*> boards_;
};

class FlagSignals final : public StreamSignals {
 public:
  FlagSignals(Device device, int rank, const std::vector<FlagPage*>& pages)
      : api_(device_api(device.type).shared_from_this()), device_(device), rank_(rank) {
    for (FlagPage* const page : pages) {
      api_->register_host(device, page, FlagPage::bytes);
      pages_.emplace_back(page, Unregister{api_, device});
    }
  }

  void signal(Point point, std::uint64_t round, StreamHandle stream) override {
    api_->write_flag(device_, stream, &pages_[rank_index(rank_)]->at(point), round);
  }
  void await(int rank, Point point, std::uint64_t round, StreamHandle stream) override {
    api_->wait_flag(device_, stream, &pages_[rank_index(rank)]->at(point), round);
  }
  bool needs_meeting() const override { return false; }
  void release() noexcept override {
    for (const RegisteredPage& page : pages_)
      for (const Point point : {Point::ready, Point::done}) page->at(point).store(released_flag);
  }

 private:
  struct Unregister {
    std::shared_ptr<DeviceApi> api;
    Device device;
    void operator()(FlagPage* page) const { api->unregister_host(device, page); }
  };
  using RegisteredPage = std::unique_ptr<FlagPage, Unregister>;

  const std::shared_ptr<DeviceApi> api_;
  const Device device_;
  const int rank_;
  std::vector<RegisteredPage> pages_;  // by rank
};

class HostSignals final : public StreamSignals {
 public:
  explicit HostSignals(Device device) : api_(device_api(device.type).shared_from_this()), device_(device) {}

  void signal(Point, std::uint64_t, StreamHandle stream) override { api_->synchronize(device_, stream); }
  void await(int, Point, std::uint64_t, StreamHandle) override {}
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

EventBoard::EventBoard(Device device) {
  for (auto& of_point : events_)
    for (std::uint64_t i = 0; i < StreamSignals::depth; ++i) of_point.emplace_back(device);
}

std::unique_ptr<StreamSignals> make_event_signals(Device device, int rank, std::vector<EventBoard*> boards) {
  return std::make_unique<EventSignals>(device, rank, std::move(boards));
}

std::unique_ptr<StreamSignals> make_flag_signals(Device device, int rank,
                                                 const std::vector<FlagPage*>& pages) {
  return std::make_unique<FlagSignals>(device, rank, pages);
}

std::unique_ptr<StreamSignals> make_host_signals(Device device) {
  return std::make_unique<HostSignals>(device);
}

}  // namespace dist
