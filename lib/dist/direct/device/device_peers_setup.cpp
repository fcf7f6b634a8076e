// How the ranks of a group agree to use each other's device memory: connect() exchanges greetings (greet),
// lets every rank map every other one's rooms (try_rooms), maps the pages with the flags (map_pages) and
// chooses how the streams meet (choose_signals). A step that fails on one rank alone is agreed on by all
// (agree).
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "dist/core/device/registered_pages.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/direct/device/device_peers.h"

namespace dist {
namespace {

// Exchanges a plain struct with every rank; returns all ranks' structs, by rank.
template <class T>
std::vector<T> exchange(PeerMemory& hosts, T mine, const CallLabel& label) {
  Round round(hosts, DevicePeers::meeting, label);
  const auto bytes = static_cast<std::int64_t>(sizeof(T));
  round.publish_copy({reinterpret_cast<std::byte*>(&mine), bytes, DType::u8, cpu});
  std::vector<T> all(rank_index(hosts.size()));
  for (int r = 0; r < hosts.size(); ++r)
    if (r != hosts.rank()) std::memcpy(&all[rank_index(r)], round.of(r, bytes).data, sizeof(T));
  all[rank_index(hosts.rank())] = mine;
  return all;
}

// Runs a step that may fail on this rank alone. The others would wait for it, so it goes on and reports the
// failure.
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

}  // namespace

struct DevicePeers::Hello {
  std::uint64_t process;
  std::uint64_t usable;         // 0: this rank failed to fill in the rest
  std::int64_t device;          // the device's index
  std::array<char, 32> bus_id;  // the same for all processes, whatever CUDA_VISIBLE_DEVICES says
  std::uint64_t has_flags;
  std::uint64_t wanted_sync;  // DIST_CUDA_SYNC: 0 when not set, else the mode's number plus 1
  EventBoard* events;
};

std::unique_ptr<DevicePeers> DevicePeers::connect(PeerMemory& hosts, Device device, const CallLabel& label) {
  std::unique_ptr<DevicePeers> peers(new DevicePeers(hosts, device));
  const std::vector<Hello> hellos = peers->greet(label);
  if (!std::ranges::all_of(hellos, [](const Hello& hello) { return hello.usable == 1; })) return nullptr;
  if (!peers->agree(peers->try_rooms(hellos, label), label)) return nullptr;
  peers->map_pages(label);
  peers->choose_signals(hellos, label);
  return peers;
}

std::vector<DevicePeers::Hello> DevicePeers::greet(const CallLabel& label) {
  Hello mine{};
  mine.process = process_number();
  mine.usable = succeeds([&] {
    api_->load_kernels(device_);
    events_ = std::make_unique<EventBoard>(device_, size());
    flags_ = empty({static_cast<std::int64_t>(FlagPages::bytes(size()) + whole_pages(1))}, DType::u8, cpu);
    rooms_ = empty({static_cast<std::int64_t>(StreamSignals::round_depth * room_bytes)}, DType::u8, device_);
    mine.device = device_.index;
    api_->bus_id(device_).copy(mine.bus_id.data(), mine.bus_id.size());
    mine.has_flags = api_->has_flags(device_);
    const auto wanted = wanted_sync();
    mine.wanted_sync = wanted ? static_cast<std::uint64_t>(*wanted) + 1 : 0;
    mine.events = events_.get();
  });
  std::vector<Hello> hellos = exchange(hosts_, mine, label);
  std::map<std::array<char, 32>, int> workers;  // by device
  for (int r = 0; r < size(); ++r) {
    const Hello& theirs = hellos[rank_index(r)];
    same_process_.push_back(theirs.process == mine.process);
    worker_of_.push_back(workers.try_emplace(theirs.bus_id, r).first->second);
    if (is_worker(r)) workers_.push_back(r);
  }
  return hellos;
}

bool DevicePeers::agree(bool mine, const CallLabel& label) {
  const auto all = exchange(hosts_, std::uint64_t{mine}, label);
  return std::ranges::all_of(all, [](std::uint64_t yes) { return yes == 1; });
}

// Whether the other ranks can reach this rank's memory, and this rank theirs. It is tried on the rooms, in
// the way that tensors will be reached.
bool DevicePeers::try_rooms(const std::vector<Hello>& hellos, const CallLabel& label) {
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

void DevicePeers::choose_signals(const std::vector<Hello>& hellos, const CallLabel& label) {
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
  if (sync_ == SyncMode::flags && !use_flags(hellos, label)) sync_ = SyncMode::host;
  if (sync_ == SyncMode::events) signals_ = make_event_signals(device_, rank(), std::move(boards));
  if (sync_ == SyncMode::host) signals_ = make_host_signals(device_);
  log(LogLevel::info, "ranks share device memory; their streams meet by {}", name(sync_));
}

// Every rank maps every rank's pages.
void DevicePeers::map_pages(const CallLabel& label) {
  const auto first = whole_pages(reinterpret_cast<std::uintptr_t>(flags_.raw()));
  auto* const mine = FlagPages::make(reinterpret_cast<void*>(first), size());
  const auto bytes = static_cast<std::int64_t>(FlagPages::bytes(size()));
  Round round(hosts_, meeting, label);
  round.publish_in_place({reinterpret_cast<std::byte*>(mine), bytes, DType::u8, cpu});
  std::vector<FlagPages*> pages;
  for (int r = 0; r < size(); ++r) pages.push_back(reinterpret_cast<FlagPages*>(round.of(r, bytes).data));
  round.finish();
  pages_ = std::move(pages);
}

// Returns false on all ranks when one of them could not register the pages with its device. It depends on the
// processes of all ranks, not on this rank's alone: how often the hosts meet must be equal on all ranks.
bool DevicePeers::use_flags(const std::vector<Hello>& hellos, const CallLabel& label) {
  std::set<std::uint64_t> processes;
  for (const Hello& hello : hellos) processes.insert(hello.process);
  try {
    signals_ = make_flag_signals(device_, rank(), pages_, processes.size() < hellos.size());
  } catch (const Error& error) {
    log(LogLevel::info, "streams cannot meet by flags: {}", error.what());
  }
  if (agree(signals_ != nullptr, label)) return true;
  signals_.reset();
  return false;
}

}  // namespace dist
