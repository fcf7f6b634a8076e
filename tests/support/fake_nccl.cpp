#include "support/fake_nccl.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "dist/backend/nccl/explain.h"
#include "dist/core/fail.h"

namespace dist::test {

nccl::UniqueId FakeNccl::make_id() {
  const std::scoped_lock lock(mutex_);
  if (!refused_.empty()) fail(Errc::internal, "{}", refused_);
  nccl::UniqueId id{};
  ++ids_;
  std::memcpy(id.data(), &ids_, sizeof ids_);
  return id;
}

nccl::Comm FakeNccl::begin(Device device, int ranks, const nccl::UniqueId& id, int rank) {
  std::uint64_t number = 0;
  std::memcpy(&number, id.data(), sizeof number);
  const std::scoped_lock lock(mutex_);
  auto world = worlds_[number].lock();
  if (!world) {
    world = std::make_shared<World>();
    world->ranks = ranks;
    world->devices.resize(static_cast<std::size_t>(ranks));
    worlds_[number] = world;
  }
  world->devices[static_cast<std::size_t>(rank)] = device;
  ++world->joined;
  ++alive_;
  auto made = std::make_shared<Rank>();
  made->world = std::move(world);
  made->rank = rank;
  made->device = device;
  return new std::shared_ptr<Rank>(std::move(made));
}

void FakeNccl::begin_split(nccl::Comm parent, int color, int key, nccl::Comm* made) {
  const std::scoped_lock lock(mutex_);
  Rank& rank = of(parent);
  World& world = *rank.world;
  ++rank.splits;
  world.splitting.push_back({color, key, rank.device, made});
  if (static_cast<int>(world.splitting.size()) == world.ranks) end_split(world);
}

void FakeNccl::end_split(World& world) {
  std::ranges::stable_sort(world.splitting, {}, &Splitting::key);
  std::map<int, std::shared_ptr<World>> by_color;
  for (const Splitting& each : world.splitting) {
    if (each.color < 0) continue;
    auto& child = by_color[each.color];
    if (!child) child = std::make_shared<World>();
    auto made = std::make_shared<Rank>();
    made->world = child;
    made->rank = child->ranks++;
    made->device = each.device;
    child->devices.push_back(each.device);
    child->joined = child->ranks;
    ++alive_;
    *each.made = new std::shared_ptr<Rank>(std::move(made));
  }
  world.splitting.clear();
  ++world.splits;
}

bool FakeNccl::is_busy(nccl::Comm comm) {
  const std::scoped_lock lock(mutex_);
  if (!broken_.empty()) fail(Errc::internal, "{}", nccl::explain("NCCL", "unhandled system error", broken_));
  const World& world = *of(comm).world;
  if (world.joined < world.ranks || of(comm).splits > world.splits) return true;
  if (looks_left_ > 0) {
    --looks_left_;
    return true;
  }
  if (!refuses_one_gpu_) return false;
  for (std::size_t r = 0; r < world.devices.size(); ++r)
    for (std::size_t other = 0; other < r; ++other)
      if (world.devices[r] == world.devices[other])
        fail(Errc::internal, "{}",
             nccl::explain(
                 "NCCL", "invalid usage",
                 fmt::format("Duplicate GPU detected : rank {} and rank {} both on CUDA device 1000\n", r,
                             other)));
  return false;
}

void FakeNccl::finalize(nccl::Comm) {}

// Like NCCL, which waits for its threads and the driver, and until no graph has its work any more.
void FakeNccl::destroy(Device, nccl::Comm comm) noexcept {
  std::unique_lock lock(mutex_);
  const auto is_over = [&] { return !sticks_ && of(comm).in_graphs.use_count() == 1; };
  while (!changed_.wait_for(lock, std::chrono::milliseconds(1), is_over)) {
  }
  --alive_;
  delete static_cast<std::shared_ptr<Rank>*>(comm);
}

void FakeNccl::abort(Device device, nccl::Comm comm) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    of(comm).aborted = true;
  }
  changed_.notify_all();
  destroy(device, comm);
}

void FakeNccl::refuse_ids(std::string why) {
  const std::scoped_lock lock(mutex_);
  refused_ = std::move(why);
}
void FakeNccl::break_comms(std::string why) {
  const std::scoped_lock lock(mutex_);
  broken_ = std::move(why);
}
void FakeNccl::refuse_one_gpu(bool refuse) {
  const std::scoped_lock lock(mutex_);
  refuses_one_gpu_ = refuse;
}
void FakeNccl::launch_for(int looks) {
  const std::scoped_lock lock(mutex_);
  looks_of_a_launch_ = looks;
}
void FakeNccl::stick(bool sticks) {
  {
    const std::scoped_lock lock(mutex_);
    sticks_ = sticks;
  }
  changed_.notify_all();
}
void FakeNccl::fail_groups(std::string why) {
  const std::scoped_lock lock(mutex_);
  groups_fail_ = std::move(why);
}
int FakeNccl::comms_alive() {
  const std::scoped_lock lock(mutex_);
  return alive_;
}
std::size_t FakeNccl::ids_made() {
  const std::scoped_lock lock(mutex_);
  return ids_;
}
std::vector<std::string> FakeNccl::misuse() {
  const std::scoped_lock lock(mutex_);
  return misuse_;
}
std::vector<std::string> FakeNccl::groups() {
  const std::scoped_lock lock(mutex_);
  return groups_;
}

FakeNcclGuard::FakeNcclGuard(const FakeDeviceOptions& options)
    : device_(std::make_shared<FakeDevice>(options)), nccl_(std::make_shared<FakeNccl>(device_)) {
  set_device_api(DeviceType::cuda, device_);
  nccl::set_library(nccl_);
}
FakeNcclGuard::~FakeNcclGuard() {
  nccl::set_library(nullptr);
  set_device_api(DeviceType::cuda, nullptr);
}

}  // namespace dist::test
