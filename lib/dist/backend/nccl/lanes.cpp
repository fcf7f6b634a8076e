// Messages by NCCL (DIST_NCCL_MESSAGES=1): lane_of() makes the backend for one direction between two ranks,
// submit_batch() makes one operation of those of a batch (launch_together), finish_lanes() and
// meet_other_end() end them.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "dist/backend/collective_work.h"
#include "dist/backend/nccl/backend.h"
#include "dist/backend/nccl/collectives.h"
#include "dist/core/fail.h"

namespace dist::nccl {
namespace {

bool carries_messages() {
  const char* const value = std::getenv("DIST_NCCL_MESSAGES");
  return value && std::string_view(value) == "1";
}

}  // namespace

bool NcclBackend::is_elsewhere(const Operation& operation) const {
  return operation.device().type != DeviceType::cpu && operation.tag == 0 &&
         operation.peer != context_.rank && carries_messages();
}

// Each direction between two ranks is a communicator and a stream of its own: no message waits for one of the
// other direction, nor for a collective.
Backend* NcclBackend::lane_of(const Operation& operation) {
  if (!is_elsewhere(operation)) return nullptr;
  if (operation.peer == any_rank)
    fail(Errc::unsupported,
         "rank {}: {}: NCCL receives only from a rank that is named; name it, give the message a tag, or "
         "unset "
         "DIST_NCCL_MESSAGES, so that the message goes through the host",
         context_.members[context_.rank], describe(operation));
  const std::scoped_lock lock(lanes_mutex_);
  auto& lane = lanes_[way_of(operation)];
  if (lane) return lane.get();
  const auto [from, to] = way_of(operation);
  BackendContext between = context_;
  between.group_name = fmt::format("{}, messages from {} to {}", context_.group_name, from, to);
  between.rank = operation.kind == OpKind::send ? 0 : 1;
  between.members = Members({context_.members[from], context_.members[to]});
  between.store = std::make_shared<PrefixStore>(fmt::format("messages {} {}", from, to), context_.store);
  between.split_off = nullptr;
  lane = std::make_unique<NcclBackend>(between, library_, Role::lane);
  return lane.get();
}

NcclBackend::Way NcclBackend::way_of(const Operation& operation) const {
  return operation.kind == OpKind::send ? Way(context_.rank, operation.peer)
                                        : Way(operation.peer, context_.rank);
}

// A lane's first message waits until the other rank begins it, too, and its later ones wait for nothing: only
// those may be launched together, or a message would wait for ranks that it has nothing to do with.
NcclBackend* NcclBackend::lane_at_rest(const Way& way) {
  const std::scoped_lock lock(lanes_mutex_);
  const auto found = lanes_.find(way);
  if (found == lanes_.end()) return nullptr;
  NcclBackend& lane = *found->second;
  return lane.has_run_ && lane.is_idle() && !lane.breakage_ ? &lane : nullptr;
}

std::vector<std::shared_ptr<WorkState>> NcclBackend::submit_batch(std::vector<Operation> operations) {
  std::map<Way, NcclBackend*> at_rest;  // asked once per lane, because its messages keep their order
  std::vector<NcclBackend*> lanes;
  for (const Operation& operation : operations) {
    const auto [lane, is_new] = at_rest.try_emplace(way_of(operation), nullptr);
    if (is_new) lane->second = lane_at_rest(way_of(operation));
    lanes.push_back(is_elsewhere(operation) ? lane->second : nullptr);
  }
  if (std::ranges::count_if(lanes, [](const NcclBackend* lane) { return lane != nullptr; }) < 2)
    return StreamBackend::submit_batch(std::move(operations));
  std::vector<std::shared_ptr<WorkState>> works(operations.size());
  std::vector<Launch> together;
  std::vector<Operation> others;
  std::vector<std::size_t> places;  // of the others
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!lanes[i]) {
      others.push_back(std::move(operations[i]));
      places.push_back(i);
      continue;
    }
    auto points = lanes[i]->mark(operations[i]);
    const Way way = way_of(operations[i]);
    const int source = operations[i].kind == OpKind::recv ? context_.members[way.first] : -1;
    auto work = std::make_shared<CollectiveWork>(std::move(operations[i]), std::move(points), source);
    together.push_back({way, lanes[i], work});
    works[i] = std::move(work);
  }
  auto of_others = StreamBackend::submit_batch(std::move(others));
  for (std::size_t i = 0; i < places.size(); ++i) works[places[i]] = std::move(of_others[i]);
  launch_together(std::move(together));
  return works;
}

// In the order of the directions, which is the same on all ranks: where a GPU runs one of NCCL's kernels
// after the other, the first that has not ended is one that both its ranks run.
void NcclBackend::launch_together(std::vector<Launch> messages) {
  std::ranges::stable_sort(messages, {}, &Launch::way);
  std::erase_if(messages, [](const Launch& message) {
    try {
      message.lane->begin_apart(message.work->operation, *message.work->points);
      return false;
    } catch (...) {
      message.work->finish(std::current_exception());
      return true;
    }
  });
  std::vector<Message> calls;
  for (const auto& [way, lane, work] : messages)
    calls.push_back(
        {*lane->communicator_, work->operation, lane->stream(), lane->patience_for(work->operation)});
  std::exception_ptr error;
  try {
    nccl::run_together(calls);
  } catch (...) {
    error = std::current_exception();
  }
  for (const auto& [way, lane, work] : messages) {
    if (error)
      work->finish(lane->fail_apart(work->operation, error));
    else
      work->finish(lane->end_apart(work->operation, work->points));
  }
}

void NcclBackend::finish_lanes() {
  for (const auto& [way, lane] : lanes_) (void)lane->finish();
}

// For a lane: waits for the other end.
void NcclBackend::meet_other_end() {
  Operation leaving;
  leaving.timeout = close_timeout;
  const auto net = context_.endpoint->open(options_of(context_, leaving, "leaving the group", lanes_tag));
  std::byte mine{}, theirs{};
  const int other = 1 - context_.rank;
  send_recv(*net, {&mine, 1, DType::u8, cpu}, other, {&theirs, 1, DType::u8, cpu}, other);
}

}  // namespace dist::nccl
