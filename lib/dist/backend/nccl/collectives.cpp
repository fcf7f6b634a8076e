// The collectives as NCCL calls. Flight is one operation on its way into NCCL; the functions are for
// collectives that NCCL does not have as one call; enqueue() picks what to call, and run() does what must
// happen before and after; run_together() makes one operation of many messages.
#include "dist/backend/nccl/collectives.h"

#include <algorithm>
#include <optional>

#include "dist/backend/nccl/joined.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"

namespace dist::nccl {
namespace {

// One operation on its way into NCCL.
struct Flight {
  const Operation& operation;
  Library& library;
  Comm comm;
  const int rank, size;
  const StreamHandle stream;
  const std::optional<Joined>& joined;  // the joined list of an all_gather or a reduce_scatter

  TensorView in() const { return operation.inputs[0]; }
  TensorView out() const { return operation.outputs[0]; }
  TensorView in(int r) const { return operation.inputs[static_cast<std::size_t>(r)]; }
  TensorView out(int r) const { return operation.outputs[static_cast<std::size_t>(r)]; }

  // With one rank NCCL runs a kernel only to scale, which leaves out the end of some sizes and runs on the
  // thread's current device. So NCCL copies, and run() scales.
  ReduceOp op() const {
    const auto kind = operation.op.kind();
    const bool scales = kind == ReduceOp::Kind::avg || kind == ReduceOp::Kind::premul_sum;
    return size == 1 && scales ? ReduceOp::sum : operation.op;
  }

  // Sends nothing for no elements, nor to this rank itself.
  void send(const TensorView& view, int peer) const {
    if (view.count > 0 && peer != rank) library.send(comm, view, peer, stream);
  }
  void recv(const TensorView& view, int peer) const {
    if (view.count > 0 && peer != rank) library.recv(comm, view, peer, stream);
  }
};

void scatter(const Flight& f) {
  for (int r = 0; f.rank == f.operation.root && r < f.size; ++r) f.send(f.in(r), r);
  f.recv(f.out(), f.operation.root);
}

void gather(const Flight& f) {
  f.send(f.in(), f.operation.root);
  for (int r = 0; f.rank == f.operation.root && r < f.size; ++r) f.recv(f.out(r), r);
}

void all_to_all(const Flight& f) {
  for (int r = 0; r < f.size; ++r) {
    f.send(f.in(r), r);
    f.recv(f.out(r), r);
  }
}

// Tensors with different sizes: one broadcast each, in one operation.
void all_gather(const Flight& f) {
  if (f.joined) return f.library.all_gather(f.comm, f.in(), f.joined->view(), f.stream);
  for (int r = 0; r < f.size; ++r)
    f.library.broadcast(f.comm, r == f.rank ? f.in() : f.out(r), f.out(r), r, f.stream);
}

void reduce_scatter(const Flight& f) {
  if (f.joined) return f.library.reduce_scatter(f.comm, f.joined->view(), f.out(), f.op(), f.stream);
  for (int r = 0; r < f.size; ++r)
    f.library.reduce(f.comm, f.in(r), r == f.rank ? f.out() : f.in(r), f.op(), r, f.stream);
}

// Copies what this rank sends to itself.
void copy_own(const Operation& operation, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  const bool is_root = rank == operation.root;
  if (operation.kind == OpKind::scatter && is_root) copy(operation.outputs[0], operation.inputs[own]);
  if (operation.kind == OpKind::gather && is_root) copy(operation.outputs[own], operation.inputs[0]);
  if (operation.kind == OpKind::all_to_all) copy(operation.outputs[own], operation.inputs[own]);
}

void enqueue(const Flight& f) {
  const Operation& operation = f.operation;
  switch (operation.kind) {
    case OpKind::all_reduce: return f.library.all_reduce(f.comm, f.out(), f.out(), f.op(), f.stream);
    case OpKind::reduce: return f.library.reduce(f.comm, f.out(), f.out(), f.op(), operation.root, f.stream);
    case OpKind::broadcast: return f.library.broadcast(f.comm, f.out(), f.out(), operation.root, f.stream);
    case OpKind::scatter: return scatter(f);
    case OpKind::gather: return gather(f);
    case OpKind::all_gather: return all_gather(f);
    case OpKind::reduce_scatter: return reduce_scatter(f);
    case OpKind::all_to_all: return all_to_all(f);
    case OpKind::send: return f.send(f.in(), 1);  // in a lane, from rank 0 to rank 1
    case OpKind::recv: return f.recv(f.out(), 0);
    case OpKind::barrier: break;
  }
  fail(Errc::internal, "nccl::run was given a {}", name(operation.kind));
}

}  // namespace

void run(Communicator& communicator, const Operation& operation, const Patience& patience) {
  const int rank = communicator.rank(), size = communicator.size();
  copy_own(operation, rank);
  std::optional<Joined> joined;
  if (operation.kind == OpKind::all_gather) joined = Joined::of(operation.outputs);
  if (operation.kind == OpKind::reduce_scatter) joined = Joined::of(operation.inputs);
  if (joined && operation.kind == OpKind::reduce_scatter) joined->collect(operation.inputs);
  communicator.run(
      [&](Library& library, Comm comm) {
        enqueue({operation, library, comm, rank, size, current_stream(operation.device()), joined});
      },
      patience);
  if (joined && operation.kind == OpKind::all_gather) joined->spread(operation.outputs);
  if (size == 1 && operation.op.kind() == ReduceOp::Kind::premul_sum)
    scale(operation.outputs[0], operation.op.factor());
}

void run_together(const std::vector<Message>& messages) {
  const std::optional<Joined> none;
  std::vector<Communicator::Part> parts;
  for (auto first = messages.begin(); first != messages.end();) {
    Communicator& lane = first->communicator;
    const auto last =
        std::find_if(first, messages.end(), [&](const Message& m) { return &m.communicator != &lane; });
    parts.push_back({lane,
                     [&none, first, last](Library& library, Comm comm) {
                       for (auto m = first; m != last; ++m)
                         enqueue({m->operation, library, comm, m->communicator.rank(), m->communicator.size(),
                                  m->stream, none});
                     },
                     first->patience});
    first = last;
  }
  Communicator::run_together(parts);
}

}  // namespace dist::nccl
