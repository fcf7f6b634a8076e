// The face of distlab: process groups, point-to-point and collectives. Names, argument order and meaning
// follow torch.distributed, so that what you learn in distlab is what you write in PyTorch.
//
// Every rank of a group calls the same collectives in the same order. `src` and `dst` are global ranks, even
// with `.group`; `.group_src` and `.group_dst` take group ranks instead. Synchronous CPU operations block
// until their result is there; with `.async_op = true` a call returns at once, and its buffers may be touched
// after Work::wait().
//
// Tensors are always contiguous: there are no strides, and a message or a collective moves all elements of
// its tensor in order. Only the number of elements and the dtype are compared between ranks, unless a call
// says otherwise.
//
// Every failure is a dist::Error; the kinds are in core/error.h. Those that the calls below throw:
//   invalid_argument  a wrong argument: refused before anything moves
//   not_initialized   there is no default group
//   timeout           the time limit passed; the message says what had arrived
//   peer_failed       another rank died, gave up or left; the message names it. Every pending operation of a
//                     group with a rank that died or gave up ends with it, on all ranks
//   mismatch          the ranks called different collectives, or with different sizes, dtypes or roots
//   aborted           an earlier collective of this group failed on this rank, or this rank is leaving
//                     the job
//
// A collective that fails half way, even because of a timeout, leaves undefined values in the tensors it
// writes, and the group is broken on this rank: later collectives on it throw Error{aborted}, which quotes
// the first error. So `.timeout` on a collective is not a way to try again: destroy the group.
// Work::wait(timeout) gives up only the wait. A receive that fails leaves undefined values in its tensor; a
// failed send leaves its tensor as it was.
//
// The threads of a rank may send, receive and wait at the same time. The collectives of one group need one
// order, so they must come from one thread at a time: give each thread a group of its own. A forked child is
// not in a job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/backend/work.h"
#include "dist/core/call_site.h"
#include "dist/core/deadline.h"
#include "dist/core/tensor.h"
#include "dist/store/store.h"

namespace dist {

struct GroupState;

// A handle on a group, cheap to copy. A rank that is not a member holds one too (new_group returns it on
// every rank); an operation on it throws Error{invalid_argument}.
class ProcessGroup {
 public:
  ProcessGroup() = default;
  // For the library only.
  explicit ProcessGroup(std::shared_ptr<GroupState> state) : state_(std::move(state)) {}

  explicit operator bool() const { return state_ != nullptr; }  // false for ProcessGroup{}
  bool is_member() const;                                       // whether this rank belongs to it
  int rank() const;                                             // in this group; -1 for a non-member
  int size() const;                                             // number of ranks
  const std::vector<int>& ranks() const;                        // global rank of each group rank
  int global_rank(int group_rank) const;                        // Error{invalid_argument} when out of range
  int group_rank(int global_rank) const;                        // -1 when not a member
  const std::string& name() const;                              // the same on every rank
  std::string backend() const;                                  // for example "host"
  const std::shared_ptr<GroupState>& state() const { return state_; }  // for the library only

 private:
  std::shared_ptr<GroupState> state_;
};

// Arguments of init_process_group(); what is left out is read from the environment.
struct InitOptions {
  std::string backend = "auto";        // auto (or DIST_BACKEND), host, cuda, nccl, mpi, sim
  std::string init_method = "env://";  // env://, tcp://HOST:PORT, file:///PATH
  int rank = -1;                       // -1: from the environment
  int world_size = -1;                 // -1: from the environment
  // The default of every operation and of this call; unset: DIST_TIMEOUT (seconds), or 30 minutes.
  std::optional<Timeout> timeout = {};
  std::shared_ptr<Store> store = {};  // instead of init_method; needs rank and world_size
};

// Joins the job: blocks until all ranks have called it; then the default group exists. Throws Error for a
// missing or contradictory RANK or WORLD_SIZE, an unreachable master, a missing rank (named), different world
// sizes (named), and a second call without destroy_process_group.
void init_process_group(const InitOptions& options = {}, Caller at = Caller::here());
// Leaves the job, or with a group: only that group. Waits for pending collectives and sends; receives that no
// thread waits for are given up (and logged); connections are closed. While an exception is being thrown it
// waits for nothing, and the other ranks are notified. Throws Error{not_initialized} without a default group.
// Calls that other threads of this rank are in have 10 s to end; then, and receives at once, they end with
// Error{aborted}. When only a group is destroyed they are not ended: after 10 s this call throws
// Error{invalid_argument}. A call that begins during it throws Error{not_initialized}.
void destroy_process_group(const ProcessGroup& group = {}, Caller at = Caller::here());
// True between init_process_group and destroy_process_group. Does not block.
bool is_initialized();

// This rank's number; -1 for a non-member of `group`.
int get_rank(const ProcessGroup& group = {}, Caller at = Caller::here());
// The number of ranks; -1 for a non-member of `group`.
int get_world_size(const ProcessGroup& group = {}, Caller at = Caller::here());
int get_local_rank(Caller at = Caller::here());  // among the ranks of this host
// Where this rank's tensors go by default: cuda(get_local_rank() modulo this host's number of GPUs), or the
// CPU where there are none, and for virtual ranks. With DIST_DEVICE=cpu: the CPU. With DIST_DEVICE=cuda,
// init_process_group throws where there is no GPU, and with a backend for GPUs it makes this device the
// default of the tensor factories (set_default_device).
Device get_device(Caller at = Caller::here());
// The name of the group's backend: "host", "cuda", "nccl", "mpi" or "sim".
std::string get_backend(const ProcessGroup& group = {}, Caller at = Caller::here());
// The global rank of each group rank.
std::vector<int> get_process_group_ranks(const ProcessGroup& group = {}, Caller at = Caller::here());
ProcessGroup default_group(Caller at = Caller::here());  // Error{not_initialized} before init_process_group

// Arguments of new_group().
struct NewGroupOptions {
  std::string backend = {};             // empty or auto: the parent's
  std::optional<Timeout> timeout = {};  // unset: the parent's
  bool sort_ranks = false;              // true: group ranks are in the order of the global ranks, as in torch
};
// Makes a group of these global ranks, in any order; a rank's position in `ranks` is its group rank. EVERY
// rank of the default group must call it, members or not, in the same order: it blocks until all have.
ProcessGroup new_group(const std::vector<int>& ranks, const NewGroupOptions& options = {},
                       Caller at = Caller::here());

// Arguments of split_group().
struct SplitOptions {
  ProcessGroup parent = {};  // default: the default group
};
// One group for each color; its ranks are ordered by (key, rank in the parent). Every rank of the parent must
// call it. A rank with a negative color joins none: it gets a handle without members, which operations
// refuse. (torch.distributed's split_group takes lists of ranks instead; this is MPI_Comm_split.)
ProcessGroup split_group(int color, int key = 0, const SplitOptions& options = {},
                         Caller at = Caller::here());

// Cuts the parent into groups of `group_size` ranks that follow one another, and returns this rank's. Every
// rank of the parent must call it. Throws Error{invalid_argument} if group_size does not divide its size, and
// Error{mismatch}, on all ranks, if they pass different ones.
ProcessGroup new_subgroups(int group_size, const SplitOptions& options = {}, Caller at = Caller::here());
// One group for each list of global ranks, and returns this rank's; a rank in none of the lists gets a handle
// without members. Every rank of the parent must call it with the same lists (Error{mismatch}); no rank is in
// two of them.
ProcessGroup new_subgroups_by_enumeration(const std::vector<std::vector<int>>& lists,
                                          const SplitOptions& options = {}, Caller at = Caller::here());

// Options of the operations below. `.tag` is for point-to-point operations only, `.algorithm` for collectives
// only; a call refuses the other one.
struct Options {
  ProcessGroup group = {};              // default: the default group
  bool async_op = false;                // return at once; Work::wait() later
  std::optional<Timeout> timeout = {};  // unset: the group's; a collective that exceeds it breaks its group
  std::string algorithm = {};           // "ring"; empty: the cheapest
  int group_src = -1;                   // instead of src, as a group rank
  int group_dst = -1;                   // instead of dst, as a group rank
  std::uint64_t tag = 0;                // a message matches only receives with the same tag
};

// Point-to-point. Messages match receives first-in first-out for each (source, destination, group, tag);
// sizes and dtypes must be equal (Error{mismatch}). send() returns when the receiver has posted its receive
// and the data is on its way into it; with DIST_SEND=eager small messages do not wait for the receive. After
// Error{timeout} a small message may still arrive: a later receive may match it.
Work send(const Tensor& t, int dst, const Options& options = {}, Caller at = Caller::here());
// Blocks until the message is in `t`; the message must have exactly t's size.
Work recv(Tensor& t, int src, const Options& options = {}, Caller at = Caller::here());
// From any rank: Work::source_rank() says which.
Work recv(Tensor& t, const Options& options = {}, Caller at = Caller::here());
// As send(), but returns at once; do not write to `t` before Work::wait().
Work isend(const Tensor& t, int dst, Options options = {}, Caller at = Caller::here());
// As recv(), but returns at once; do not read or write `t` before Work::wait().
Work irecv(Tensor& t, int src, Options options = {}, Caller at = Caller::here());
Work irecv(Tensor& t, Options options = {}, Caller at = Caller::here());  // from any rank

// batch_isend_irecv({{P2P::isend, t, 1}, {P2P::irecv, u, 3}}) starts all of them before any is waited for.
struct P2P {
  // The kind of operation.
  enum Kind { isend, irecv };
  Kind kind;                // whether to send or to receive
  Tensor tensor;            // the data to send, or its destination
  int peer;                 // global rank
  ProcessGroup group = {};  // default: the default group
  std::uint64_t tag = 0;    // as in Options
};
// Returns at once: one Work for each operation, in their order. Throws Error{invalid_argument}, too, where
// `options` sets a tag or a group rank: each operation has its own.
std::vector<Work> batch_isend_irecv(const std::vector<P2P>& operations, const Options& options = {},
                                    Caller at = Caller::here());

// Collectives. The tensors of one call must have one dtype, the same on all ranks, and be on one device of
// their rank.
// In place; the same number of elements on every rank.
Work broadcast(Tensor& t, int src, const Options& options = {}, Caller at = Caller::here());
// Element by element over all ranks. The result is in `t` on `dst`; on the other ranks `t` is not changed.
Work reduce(Tensor& t, int dst, ReduceOp op = ReduceOp::sum, const Options& options = {},
            Caller at = Caller::here());
Work all_reduce(Tensor& t, ReduceOp op = ReduceOp::sum, const Options& options = {},
                Caller at = Caller::here());  // in place
// On `src`, `list` holds one tensor per rank (list[i] has as many elements as rank i's out); on the other
// ranks it is empty.
Work scatter(Tensor& out, const std::vector<Tensor>& list, int src, const Options& options = {},
             Caller at = Caller::here());
// On `dst`, `list` holds one tensor per rank (list[i] has as many elements as rank i's t); on the other ranks
// it is empty.
Work gather(const Tensor& t, std::vector<Tensor>& list, int dst, const Options& options = {},
            Caller at = Caller::here());
// list[i] receives rank i's t, and has as many elements.
Work all_gather(std::vector<Tensor>& list, const Tensor& t, const Options& options = {},
                Caller at = Caller::here());
// out.numel() == n * t.numel(); rank i's t is the i-th of n equal parts.
Work all_gather_into_tensor(Tensor& out, const Tensor& t, const Options& options = {},
                            Caller at = Caller::here());
// `out` receives the reduction over all ranks of list[this rank]; the lists are not changed.
Work reduce_scatter(Tensor& out, const std::vector<Tensor>& list, ReduceOp op = ReduceOp::sum,
                    const Options& options = {}, Caller at = Caller::here());
// t.numel() == n * out.numel(): t is n equal parts in rank order, of which this rank receives the reduction
// of its own.
Work reduce_scatter_tensor(Tensor& out, const Tensor& t, ReduceOp op = ReduceOp::sum,
                           const Options& options = {}, Caller at = Caller::here());
// ins[i] is sent to rank i, outs[i] is received from rank i; both lists hold one tensor per rank.
Work all_to_all(std::vector<Tensor>& outs, const std::vector<Tensor>& ins, const Options& options = {},
                Caller at = Caller::here());
// The splits are numbers of rows along the first axis, one per rank; empty: equal parts.
Work all_to_all_single(Tensor& out, const Tensor& in, const std::vector<std::int64_t>& out_splits = {},
                       const std::vector<std::int64_t>& in_splits = {}, const Options& options = {},
                       Caller at = Caller::here());
// Blocks until all ranks of the group have called it.
Work barrier(const Options& options = {}, Caller at = Caller::here());
// A barrier that says which ranks are missing: group rank 0 waits for a message of each rank and, after
// `timeout`, throws Error{timeout} naming every rank that did not come (Error{peer_failed} at once where one
// has left); the other ranks then throw the same.
void monitored_barrier(Timeout timeout, const Options& options = {}, Caller at = Caller::here());

// The arguments between tensors and options may be left out, as in torch: all_reduce(t, {.group = g}) sums,
// and all_to_all_single(out, in, {.group = g}) sends equal parts.
inline Work reduce(Tensor& t, int dst, const Options& options, Caller at = Caller::here()) {
  return reduce(t, dst, ReduceOp::sum, options, at);
}
inline Work all_reduce(Tensor& t, const Options& options, Caller at = Caller::here()) {
  return all_reduce(t, ReduceOp::sum, options, at);
}
inline Work reduce_scatter(Tensor& out, const std::vector<Tensor>& list, const Options& options,
                           Caller at = Caller::here()) {
  return reduce_scatter(out, list, ReduceOp::sum, options, at);
}
inline Work reduce_scatter_tensor(Tensor& out, const Tensor& t, const Options& options,
                                  Caller at = Caller::here()) {
  return reduce_scatter_tensor(out, t, ReduceOp::sum, options, at);
}
inline Work all_to_all_single(Tensor& out, const Tensor& in, const Options& options,
                              Caller at = Caller::here()) {
  return all_to_all_single(out, in, {}, {}, options, at);
}

}  // namespace dist

#include "dist/group/objects.h"  // strings instead of tensors
