#include "dist/transport/device_peers.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <random>
#include <string>

#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/transport/device_round.h"
#include "dist/transport/opcode.h"

namespace dist {

namespace {

// A number that no other process has: containers may have equal pids, and a forked child inherits what is
// static.
std::uint64_t process_number() {
  static const std::uint64_t job = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return job ^ static_cast<std::uint64_t>(::getpid());
}

const RoundTerms setup_terms{opcode_of(OpKind::barrier, DType::u8), 0};

// What each rank shows the others of a plain struct, by rank.
template <class T>
std::vector<T> exchange(PeerMemory& hosts, T mine, const RoundLabel& label) {
  Round round(hosts, setup_terms, label);
  const auto bytes = static_cast<std::int64_t>(sizeof(T));
  round.show({reinterpret_cast<std::byte*>(&mine), bytes, DType::u8, cpu});
  std::vector<T> all(rank_index(hosts.size()));
  for (int r = 0; r < hosts.size(); ++r)
    if (r != hosts.rank()) std::memcpy(&all[rank_index(r)], round.of(r, bytes).data, sizeof(T));
  all[rank_index(hosts.rank())] = mine;
  return all;
}

// Runs what this rank may fail at alone. The others would wait for it, so it goes on and tells them.
template <class Step>
bool succeeds(const Step& step) {
  try {
    step();
    return true;
  } catch (const std::exception& error) {
    log(LogLevel::info, "device memory of this group's ranks goes through the host: {}", error.what());
    return false;
  }
}

void keep_for_ever(Tensor flags, Tensor rooms, std::unique_ptr<EventBoard> events) {
  struct Kept {
    std::mutex mutex;
    std::vector<Tensor> tensors;
    std::vector<std::unique_ptr<EventBoard>> events;
  };
  static auto* const kept = new Kept;
  const std::scoped_lock lock(kept->mutex);
  kept->tensors.push_back(std::move(flags));
  kept->tensors.push_back(std::move(rooms));
  kept->events.push_back(std::move(events));
}

}  // namespace

struct DevicePeers::Hello {
  std::uint64_t process;
  std::uint64_t usable;  // 0: the rank has failed at what follows
  std::int64_t device;   // index
  std::uint64_t has_flags;
  std::uint64_t wanted_sync;  // DIST_CUDA_SYNC: 0 when it is not set, else the mode's number plus one
  EventBoard* events;
};

std::unique_ptr<DevicePeers> DevicePeers::connect(PeerMemory& hosts, Device device, const RoundLabel& label) {
  std::unique_ptr<DevicePeers> peers(new DevicePeers(hosts, device));
  const std::vector<Hello> hellos = peers->greet(label);
  if (!std::ranges::all_of(hellos, [](const Hello& hello) { return hello.usable == 1; })) return nullptr;
  if (!peers->agree(peers->try_rooms(hellos, label), label)) return nullptr;
  peers->map_pages(label);
  peers->choose_signals(hellos, label);
  return peers;
}

DevicePeers::DevicePeers(PeerMemory& hosts, Device device)
    : hosts_(hosts), api_(device_api(device.type).shared_from_this()), device_(device) {}

DevicePeers::~DevicePeers() {
  const bool others_may_look = !pages_.empty() && !left_;
  if (others_may_look) give_up();
  signals_.reset();
  for (const auto& [key, base] : mapped_) api_->release_import(device_, base);
  if (others_may_look) keep_for_ever(std::move(flags_), std::move(rooms_), std::move(events_));
}

// Told before: whoever is let go by the signals finds it.
void DevicePeers::give_up() noexcept {
  pages_[rank_index(rank())]->broken.value.store(1);
  if (signals_) signals_->release();
}

void DevicePeers::check(const RoundLabel& label) {
  for (int r = 0; r < size(); ++r)
    if (r != rank() && pages_[rank_index(r)]->broken.value.load() != 0)
      hosts_.fail_given_up(label.options(), r);
}

bool DevicePeers::settle(Timeout patience) noexcept {
  if (left_ || round_ == 0) return true;
  try {
    Event end(device_);
    end.record(stream_);
    const Deadline deadline = Deadline::after(patience);
    while (!end.is_done()) {
      if (deadline.passed()) return false;
      give_up();
      dist::sleep(std::chrono::microseconds(500));
    }
    return true;
  } catch (const std::exception& error) {
    log(LogLevel::info, "{} does not tell whether its work has ended: {}", device_.str(), error.what());
    return false;
  }
}

// First the streams meet: then nobody's work of earlier rounds is left. Then the hosts do: nobody's stream
// looks at the signals any more.
void DevicePeers::leave(const RoundLabel& label, const std::function<void()>& look) {
  {
    DeviceRound last(*this, setup_terms, label);
    last.attend();
    for (int r = 0; r < size(); ++r) last.meet(r);
  }
  Event end(device_);
  end.record(stream_);
  const Deadline deadline = label.options().deadline;
  while (!end.is_done()) {
    check(label);
    if (deadline.passed()) fail(Errc::timeout, "the work of this group on {} does not end", device_.str());
    look();
  }
  check(label);
  Round farewell(hosts_, setup_terms, label);
  farewell.attend();
  for (int r = 0; r < size(); ++r) farewell.meet(r);
  left_ = true;
}

std::vector<DevicePeers::Hello> DevicePeers::greet(const RoundLabel& label) {
  Hello mine{};
  mine.process = process_number();
  mine.usable = succeeds([&] {
    events_ = std::make_unique<EventBoard>(device_);
    flags_ = empty({2 * FlagPage::bytes}, DType::u8);
    rooms_ = empty({static_cast<std::int64_t>(StreamSignals::depth * room_bytes)}, DType::u8, device_);
    mine.device = device_.index;
    mine.has_flags = api_->has_flags(device_);
    const auto wanted = wanted_sync();
    mine.wanted_sync = wanted ? static_cast<std::uint64_t>(*wanted) + 1 : 0;
    mine.events = events_.get();
  });
  std::vector<Hello> hellos = exchange(hosts_, mine, label);
  for (const Hello& theirs : hellos) same_process_.push_back(theirs.process == mine.process);
  return hellos;
}

bool DevicePeers::agree(bool mine, const RoundLabel& label) {
  const auto all = exchange(hosts_, std::uint64_t{mine}, label);
  return std::ranges::all_of(all, [](std::uint64_t yes) { return yes == 1; });
}

// Whether the others may reach this rank's memory, and it theirs: their rooms are asked for as any tensor
// will be.
bool DevicePeers::try_rooms(const std::vector<Hello>& hellos, const RoundLabel& label) {
  DevicePlace mine{};
  const bool shown = succeeds([&] { mine = place_of(rooms_.flat()); });
  const std::vector<DevicePlace> rooms = exchange(hosts_, mine, label);
  return shown && succeeds([&] {
           for (int r = 0; r < size(); ++r) {
             const Device theirs = cuda(static_cast<int>(hellos[rank_index(r)].device));
             if (same_process_[rank_index(r)] && !api_->reaches(device_, theirs))
               fail(Errc::unsupported, "{} cannot access {}", device_.str(), theirs.str());
             (void)address_of(r, rooms[rank_index(r)]);
           }
         });
}

bool DevicePeers::in_one_process() const {
  return std::ranges::all_of(same_process_, [](bool same) { return same; });
}

void DevicePeers::choose_signals(const std::vector<Hello>& hellos, const RoundLabel& label) {
  const bool one_process = in_one_process();
  const bool all_have_flags =
      std::ranges::all_of(hellos, [](const Hello& hello) { return hello.has_flags == 1; });
  const std::uint64_t wanted = hellos[rank_index(rank())].wanted_sync;
  for (int r = 0; r < size(); ++r)
    if (hellos[rank_index(r)].wanted_sync != wanted)
      fail(Errc::mismatch,
           "rank {}: DIST_CUDA_SYNC differs between this rank and group rank {}; set it for all",
           label.options().members[rank()], r);
  sync_ = one_process ? SyncMode::events : all_have_flags ? SyncMode::flags : SyncMode::host;
  if (wanted > 0) sync_ = static_cast<SyncMode>(wanted - 1);
  if (sync_ == SyncMode::events && !one_process)
    fail(Errc::unsupported, "DIST_CUDA_SYNC=events is for ranks that are threads; use flags or host");
  if (sync_ == SyncMode::flags && !all_have_flags)
    fail(Errc::unsupported,
         "DIST_CUDA_SYNC=flags: {} or another rank's device has no 64-bit stream memory operations; "
         "use host",
         device_.str());
  std::vector<EventBoard*> boards;
  for (const Hello& hello : hellos) boards.push_back(hello.events);
  if (sync_ == SyncMode::flags && !use_flags(label)) sync_ = SyncMode::host;
  if (sync_ == SyncMode::events) signals_ = make_event_signals(device_, rank(), std::move(boards));
  if (sync_ == SyncMode::host) signals_ = make_host_signals(device_);
  log(LogLevel::info, "ranks share device memory; their streams meet by {}", name(sync_));
}

// Every rank maps every rank's page.
void DevicePeers::map_pages(const RoundLabel& label) {
  auto* const memory = static_cast<std::byte*>(flags_.raw());
  const auto page =
      (reinterpret_cast<std::uintptr_t>(memory) + FlagPage::bytes - 1) / FlagPage::bytes * FlagPage::bytes;
  const TensorView view{reinterpret_cast<std::byte*>(page), FlagPage::bytes, DType::u8, cpu};
  new (view.data) FlagPage{};
  Round round(hosts_, setup_terms, label);
  round.expose(view);
  std::vector<FlagPage*> pages;
  for (int r = 0; r < size(); ++r) pages.push_back(reinterpret_cast<FlagPage*>(round.of(r, view.count).data));
  round.finish();
  pages_ = std::move(pages);
}

// False on all ranks where one could not register the pages with its device.
bool DevicePeers::use_flags(const RoundLabel& label) {
  try {
    signals_ = make_flag_signals(device_, rank(), pages_);
  } catch (const Error& error) {
    log(LogLevel::info, "streams cannot meet by flags: {}", error.what());
  }
  if (agree(signals_ != nullptr, label)) return true;
  signals_.reset();
  return false;
}

bool DevicePeers::maps(const TensorView& memory) const {
  try {
    return memory.count == 0 || api_->allocation_of(device_, memory.data).bytes > 0;
  } catch (const Error&) {
    return false;  // foreign memory
  }
}

DevicePlace DevicePeers::place_of(const TensorView& part) {
  DevicePlace place{};
  place.bytes = part.bytes();
  if (part.count == 0) return place;
  const Allocation whole = api_->allocation_of(device_, part.data);
  place.allocation = whole.id;
  place.address = reinterpret_cast<std::uint64_t>(part.data);
  place.offset = static_cast<std::uint64_t>(part.data - whole.base);
  if (in_one_process()) return place;  // whose ranks take the address
  auto& handle = exported_[whole.id];
  if (handle.empty()) handle = api_->export_memory(device_, whole.base);
  if (handle.size() != sizeof place.handle)
    fail(Errc::internal, "a memory handle has {} bytes", handle.size());
  std::memcpy(place.handle, handle.data(), handle.size());
  return place;
}

std::byte* DevicePeers::address_of(int rank, const DevicePlace& place) {
  if (same_process_[rank_index(rank)]) return reinterpret_cast<std::byte*>(place.address);
  const std::pair key(rank, place.allocation);
  auto found = mapped_.find(key);
  if (found == mapped_.end()) {
    void* const base = api_->import_memory(device_, {std::begin(place.handle), std::end(place.handle)});
    found = mapped_.emplace(key, base).first;
  }
  return static_cast<std::byte*>(found->second) + place.offset;
}

TensorView DevicePeers::room(std::uint64_t round) const {
  return rooms_.flat().slice(static_cast<std::int64_t>(round % StreamSignals::depth * room_bytes),
                             static_cast<std::int64_t>(room_bytes));
}

}  // namespace dist
