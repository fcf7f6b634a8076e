// A group's communicator. The constructor agrees on an id through the store (agree_on_id) and connects;
// split() makes communicators for new groups; run(), run_together() and enqueue() call NCCL; await() polls
// until NCCL is no longer busy, within the limits of a Patience; abort() and close() end it, on a thread of
// their own (ending.h).
#include "dist/backend/nccl/communicator.h"

#include <cstring>
#include <thread>

#include "dist/backend/liveness_probe.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace dist::nccl {
namespace {

constexpr std::string_view id_key = "nccl/id";
constexpr std::string_view refusal = "refused: ";  // instead of the id: the first rank could not make one
// NCCL launches on a thread of its own, which takes about ten microseconds: less than any sleep. Where other
// processes want the core, one poll may take as long as a launch by itself: so this many polls come before a
// sleep in any case.
constexpr Timeout launch_time = std::chrono::microseconds(300);
constexpr int launch_looks = 8;

// Calls NCCL. Its connections break when a rank dies: then the death is reported as the reason.
template <class Calls>
auto naming_deaths(const Patience& patience, const Calls& calls) {
  try {
    return calls();
  } catch (const Error&) {
    await_death(patience.look);
    throw;
  }
}

}  // namespace

Communicator::Communicator(std::shared_ptr<Library> library, Device device, const BackendContext& context,
                           const Patience& patience)
    : library_(std::move(library)), device_(device), rank_(context.rank), size_(context.members.size()) {
  const UniqueId id = agree_on_id(context, patience);
  comm_ = library_->begin(device, size_, id, rank_);
  try {
    await(patience, fmt::format("NCCL has not connected the {}", counted(size_, "rank")));
  } catch (...) {
    abort();
    throw;
  }
}

Communicator::Communicator(std::shared_ptr<Library> library, Device device, Comm comm, int rank, int size)
    : library_(std::move(library)), device_(device), rank_(rank), size_(size), comm_(comm) {}

// `made` is left to NCCL where NCCL may still write it.
std::unique_ptr<Communicator> Communicator::split(const SplitPlace& share, const Patience& patience) {
  auto made = std::make_unique<Comm>(nullptr);
  try {
    {
      const std::scoped_lock lock(mutex_);
      library_->begin_split(use(), share.color, share.rank, made.get());
    }
    await(patience, fmt::format("NCCL has not split the {}", counted(size_, "rank")));
  } catch (...) {
    (void)made.release();
    abort();
    throw;
  }
  if (!*made) return nullptr;
  auto child = std::make_unique<Communicator>(library_, device_, *made, share.rank, share.size);
  child->await(patience, fmt::format("NCCL has not connected the {}", counted(share.size, "rank")));
  return child;
}

UniqueId Communicator::agree_on_id(const BackendContext& context, const Patience& patience) {
  Store& store = *context.store;
  if (rank_ == 0) {
    try {
      const UniqueId id = library_->make_id();
      store.set(id_key, ConstBytes(id));
      return id;
    } catch (const Error& error) {
      store.set(id_key, fmt::format("{}{}", refusal, error.what()));
      throw;
    }
  }
  const std::string key(id_key);
  const auto is_there = [&] { return store.check({&key, 1}); };
  while (!is_there()) {
    try {
      patience.look();
    } catch (const Error&) {
      if (!is_there()) throw;  // otherwise the first rank left because of the error there
    }
    if (patience.deadline.passed())
      fail(Errc::timeout,
           "{}: rank {} has not begun it, whose part is to make NCCL's id; is that rank alive and "
           "calling the same collective?",
           patience.doing, context.members[0]);
  }
  const Bytes found = store.get(id_key, patience.deadline);
  UniqueId id;
  if (found.size() != id.size())
    fail(Errc::peer_failed, "{}: rank {} gave up: {}", patience.doing, context.members[0],
         to_string(found).substr(refusal.size()));
  std::memcpy(id.data(), found.data(), id.size());
  return id;
}

Comm Communicator::use() {
  if (!comm_) fail(Errc::aborted, "NCCL's communicator of this group was given up");
  return comm_;
}

void Communicator::await(const Patience& patience, std::string_view what) {
  const Deadline launched = Deadline::after(launch_time);
  for (int looks = 1;; ++looks) {
    if (!naming_deaths(patience, [this] { return is_busy(); })) return;
    if (looks <= launch_looks || !launched.passed()) {
      std::this_thread::yield();
      continue;
    }
    patience.look();
    if (patience.deadline.passed())
      fail(Errc::timeout, "{}: {} in time; do all of them call it, and are they alive?", patience.doing,
           what);
  }
}

void Communicator::enqueue(const std::vector<Part>& parts) {
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const Part& part : parts) locks.emplace_back(part.communicator.mutex_);
  for (const Part& part : parts) (void)part.communicator.use();  // throws before the group begins
  Library& library = *parts.front().communicator.library_;
  library.begin_group();
  std::exception_ptr error;
  try {
    for (const Part& part : parts) part.calls(library, part.communicator.comm_);
  } catch (...) {
    error = std::current_exception();
  }
  try {
    library.end_group();  // in any case, because this thread makes other groups later
  } catch (...) {
    if (!error) throw;  // otherwise it only says that a call has failed
  }
  if (error) std::rethrow_exception(error);
}

void Communicator::run(const Calls& calls, const Patience& patience) {
  run_together({{*this, calls, patience}});
}

void Communicator::run_together(const std::vector<Part>& parts) {
  if (parts.empty()) return;
  std::vector<std::unique_lock<std::mutex>> turns;
  for (const Part& part : parts) turns.emplace_back(part.communicator.running_);
  naming_deaths(parts.front().patience, [&] { enqueue(parts); });
  for (const Part& part : parts)
    part.communicator.await(part.patience, "NCCL has not connected the ranks that it needs");
}

bool Communicator::is_busy() {
  const std::scoped_lock lock(mutex_);
  return library_->is_busy(use());
}

void Communicator::check() { (void)is_busy(); }

Comm Communicator::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(comm_, nullptr);
}

// The thread that calls next must not wait for it, so it happens without the lock.
void Communicator::abort() noexcept {
  Comm comm = take();
  if (comm) ending_.begin([library = library_, device = device_, comm] { library->abort(device, comm); });
}

void Communicator::close(const Patience& patience, bool in_graphs) {
  {
    const std::scoped_lock lock(mutex_);
    library_->finalize(use());
  }
  constexpr std::string_view waiting = "NCCL has not released the ranks";
  await(patience, waiting);
  if (Comm comm = take())
    ending_.begin([library = library_, device = device_, comm] { library->destroy(device, comm); });
  if (in_graphs) return ending_.leave();
  if (!ending_.wait(patience.deadline)) fail(Errc::timeout, "{}: {} in time", patience.doing, waiting);
}

}  // namespace dist::nccl
