// What the fake NCCL puts on streams, and what it does there.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "dist/core/cpu_kernels.h"
#include "dist/core/fail.h"

#include "support/fake_nccl.h"

namespace dist::test {

namespace {

// The group that this thread has begun.
thread_local int group_depth = 0;

std::string describe(std::string_view what, const TensorView& view) {
  return fmt::format("{} of {} {}", what, view.count, name(view.dtype));
}

void move_bytes(const TensorView& to, const TensorView& from) {
  if (to.count > 0) std::memmove(to.data, from.data, to.bytes());
}

}  // namespace

void FakeNccl::begin_group() { ++group_depth; }

std::vector<FakeNccl::Launch>& FakeNccl::group() {
  thread_local std::vector<Launch> begun;
  return begun;
}

// What a group calls on one stream becomes one piece of work.
void FakeNccl::end_group() {
  if (--group_depth > 0) return;
  std::vector<Launch> launches = std::exchange(group(), {});
  note_group(launches);
  for (Launch& each : launches) launch(std::move(each));
  const std::scoped_lock lock(mutex_);
  looks_left_ = looks_of_a_launch_;
  if (!groups_fail_.empty()) fail(Errc::internal, "{}", groups_fail_);
}

// NCCL connects two ranks in the first message between them, and a group waits for all connections that it
// needs before it launches anything.
void FakeNccl::note_group(const std::vector<Launch>& launches) {
  std::string words;
  const std::scoped_lock lock(mutex_);
  for (const Launch& each : launches) {
    for (const Call& call : each.pieces) {
      if (!words.empty()) words += ' ';
      words += call.what.substr(0, call.what.find(' '));
    }
    if (launches.size() > 1 && each.rank->launches == 0)
      misuse_.push_back("the first operation of a communicator holds up a group of several");
    ++each.rank->launches;
  }
  if (!words.empty()) groups_.push_back(std::move(words));
}

void FakeNccl::add(nccl::Comm comm, StreamHandle stream, Call call) {
  const std::shared_ptr<Rank> rank = *static_cast<std::shared_ptr<Rank>*>(comm);
  if (call.in.data) call.in = device_->on_host(rank->device, call.in);
  if (call.out.data) call.out = device_->on_host(rank->device, call.out);
  if (device_->is_captured(rank->device, stream)) call.what += " in a graph";  // on all ranks, or on none
  if (group_depth == 0) fail(Errc::internal, "every call is in a group");
  auto& begun = group();
  const auto is_here = [&](const Launch& each) { return each.rank == rank && each.stream == stream; };
  auto place = std::ranges::find_if(begun, is_here);
  if (place == begun.end()) place = begun.insert(begun.end(), {rank, stream, {}});
  place->pieces.push_back(std::move(call));
}

void FakeNccl::launch(Launch all) {
  auto shared = std::make_shared<Pieces>(std::move(all.pieces));
  const bool in_graph = device_->is_captured(all.rank->device, all.stream);
  device_->enqueue(all.rank->device, all.stream,
                   [this, rank = all.rank, shared, in_graph = in_graph ? all.rank->in_graphs : nullptr] {
                     run(rank, *shared);
                   });
}

// Runs on the stream's thread: posts all of it, then waits for it.
void FakeNccl::run(const std::shared_ptr<Rank>& rank, const Pieces& pieces) {
  std::unique_lock lock(mutex_);
  World& world = *rank->world;
  std::vector<std::shared_ptr<Message>> messages;
  std::vector<std::uint64_t> collectives;
  for (const Call& call : pieces) {
    if (call.peer < 0) {
      collectives.push_back(rank->collectives++);
      join(*rank, collectives.back(), call);
      continue;
    }
    const std::pair way = call.is_send ? std::pair(rank->rank, call.peer) : std::pair(call.peer, rank->rank);
    messages.push_back(std::make_shared<Message>(Message{call}));
    (call.is_send ? world.sends : world.recvs)[way].push_back(messages.back());
    match(world, way);
  }
  changed_.notify_all();
  changed_.wait(lock, [&] {
    return rank->aborted ||
           (std::ranges::all_of(messages, [](const auto& m) { return m->done; }) &&
            std::ranges::all_of(collectives, [&](auto number) { return world.meetings[number].done; }));
  });
}

void FakeNccl::join(Rank& rank, std::uint64_t number, const Call& mine) {
  World& world = *rank.world;
  Meeting& meeting = world.meetings[number];
  meeting.calls.resize(static_cast<std::size_t>(world.ranks));
  meeting.calls[static_cast<std::size_t>(rank.rank)] = std::make_unique<Call>(mine);
  if (++meeting.arrived < world.ranks) return;
  for (const auto& call : meeting.calls)
    if (call->what != meeting.calls[0]->what) {
      misuse_.push_back(fmt::format("\"{}\" and \"{}\"", meeting.calls[0]->what, call->what));
      return;  // it hangs, like kernels of NCCL that do not fit
    }
  const ReduceOp::Kind op = meeting.calls[0]->op.kind();
  if (world.ranks == 1 && (op == ReduceOp::Kind::avg || op == ReduceOp::Kind::premul_sum))
    misuse_.push_back(fmt::format("{} of one rank leaves out the end of some sizes", name(op)));
  work(meeting, world);
  meeting.done = true;
}

void FakeNccl::match(World& world, std::pair<int, int> way) {
  auto& sends = world.sends[way];
  auto& recvs = world.recvs[way];
  while (!sends.empty() && !recvs.empty()) {
    const auto from = sends.front(), to = recvs.front();
    sends.pop_front();
    recvs.pop_front();
    if (from->call.in.bytes() != to->call.out.bytes()) {
      misuse_.push_back(fmt::format("\"{}\" and \"{}\"", from->call.what, to->call.what));
      return;
    }
    move_bytes(to->call.out, from->call.in);
    from->done = to->done = true;
  }
}

// Results are first made in separate memory, because a rank's output may be its input.
void FakeNccl::work(Meeting& meeting, const World& world) {
  const Call& first = *meeting.calls[0];
  const auto n = static_cast<std::size_t>(world.ranks);
  const std::string kind = first.what.substr(0, first.what.find(' '));
  if (kind == "broadcast") {
    const TensorView from = meeting.calls[static_cast<std::size_t>(first.root)]->in;
    for (const auto& call : meeting.calls) move_bytes(call->out, from);
    return;
  }
  if (kind == "all_gather") {
    for (std::size_t r = 0; r < n; ++r)
      for (const auto& call : meeting.calls) {
        const TensorView in = meeting.calls[r]->in;
        move_bytes(call->out.slice(static_cast<std::int64_t>(r) * in.count, in.count), in);
      }
    return;
  }
  const TensorView shape = first.in;
  std::vector<std::byte> result(shape.bytes());
  const TensorView all{result.data(), shape.count, shape.dtype, cpu};
  std::vector<std::vector<std::byte>> scaled;
  std::vector<TensorView> ins;
  for (const auto& call : meeting.calls) {
    ins.push_back(call->in);
    if (first.op.kind() != ReduceOp::Kind::premul_sum) continue;
    scaled.emplace_back(call->in.data, call->in.data + call->in.bytes());
    ins.back().data = scaled.back().data();
    cpu_kernels::scale(ins.back(), call->op.factor());
  }
  const ReduceOp op = first.op.kind() == ReduceOp::Kind::premul_sum ? ReduceOp::sum : first.op;
  if (shape.count > 0) cpu_kernels::reduce_many({&all, 1}, ins, op);
  for (std::size_t r = 0; r < n; ++r) {
    const Call& call = *meeting.calls[r];
    if (kind == "reduce_scatter")
      move_bytes(call.out, all.slice(static_cast<std::int64_t>(r) * call.out.count, call.out.count));
    else if (kind == "all_reduce" || static_cast<int>(r) == first.root)
      move_bytes(call.out, all);
  }
}

void FakeNccl::all_reduce(nccl::Comm comm, TensorView in, TensorView out, ReduceOp op, StreamHandle stream) {
  add(comm, stream, {describe("all_reduce", in), in, out, op});
}
void FakeNccl::reduce(nccl::Comm comm, TensorView in, TensorView out, ReduceOp op, int root,
                      StreamHandle stream) {
  add(comm, stream, {fmt::format("{} to {}", describe("reduce", in), root), in, out, op, root});
}
void FakeNccl::broadcast(nccl::Comm comm, TensorView in, TensorView out, int root, StreamHandle stream) {
  add(comm, stream, {fmt::format("{} from {}", describe("broadcast", out), root), in, out, {}, root});
}
void FakeNccl::all_gather(nccl::Comm comm, TensorView in, TensorView out, StreamHandle stream) {
  add(comm, stream, {describe("all_gather", in), in, out, {}});
}
void FakeNccl::reduce_scatter(nccl::Comm comm, TensorView in, TensorView out, ReduceOp op,
                              StreamHandle stream) {
  add(comm, stream, {describe("reduce_scatter", out), in, out, op});
}
void FakeNccl::send(nccl::Comm comm, TensorView in, int peer, StreamHandle stream) {
  add(comm, stream, {describe("send", in), in, {}, {}, -1, peer, true});
}
void FakeNccl::recv(nccl::Comm comm, TensorView out, int peer, StreamHandle stream) {
  add(comm, stream, {describe("recv", out), {}, out, {}, -1, peer, false});
}

}  // namespace dist::test
