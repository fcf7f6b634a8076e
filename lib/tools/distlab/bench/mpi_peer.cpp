#include <fmt/format.h>
#include <mpi.h>

#include "dist/core/fail.h"

#include "distlab/bench/peer.h"

namespace distlab::bench {
namespace {

// f16 and bf16 are moved, but never reduced, so any type of two bytes will do.
MPI_Datatype type_of(dist::DType dtype) {
  using enum dist::DType;
  switch (dtype) {
    case u8: return MPI_UINT8_T;
    case i8: return MPI_INT8_T;
    case i32: return MPI_INT32_T;
    case i64: return MPI_INT64_T;
    case f16:
    case bf16: return MPI_UINT16_T;
    case f32: return MPI_FLOAT;
    case f64: return MPI_DOUBLE;
    case boolean: return MPI_UINT8_T;
  }
  __builtin_unreachable();
}

MPI_Op op_of(dist::ReduceOp::Kind kind) {
  using enum dist::ReduceOp::Kind;
  switch (kind) {
    case sum: return MPI_SUM;
    case product: return MPI_PROD;
    case min: return MPI_MIN;
    case max: return MPI_MAX;
    case band: return MPI_BAND;
    case bor: return MPI_BOR;
    case bxor: return MPI_BXOR;
    case avg:
    case premul_sum: break;
  }
  dist::fail(dist::Errc::unsupported, "MPI has no {}; choose another --op", dist::name(kind));
}

// Errors of MPI end the job with MPI's own message (MPI_ERRORS_ARE_FATAL), so results are not checked.
class MpiPeer final : public Peer {
 public:
  MpiPeer() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(world, &rank_);
  }
  ~MpiPeer() override { MPI_Finalize(); }
  MpiPeer(const MpiPeer&) = delete;
  MpiPeer& operator=(const MpiPeer&) = delete;

  std::string title() const override {
    return fmt::format("Open MPI {}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
  }
  void all_reduce(const PeerCall& c) override {
    MPI_Allreduce(MPI_IN_PLACE, c.out, count(c), type(c), op(c), world);
  }
  void broadcast(const PeerCall& c) override { MPI_Bcast(c.out, count(c), type(c), c.root, world); }
  void reduce(const PeerCall& c) override {
    if (rank_ == c.root)
      MPI_Reduce(MPI_IN_PLACE, c.out, count(c), type(c), op(c), c.root, world);
    else
      MPI_Reduce(c.out, nullptr, count(c), type(c), op(c), c.root, world);
  }
  void all_gather(const PeerCall& c) override {
    MPI_Allgather(c.in_place ? MPI_IN_PLACE : c.in, count(c), type(c), c.out, count(c), type(c), world);
  }
  void reduce_scatter(const PeerCall& c) override {
    if (c.in_place)
      MPI_Reduce_scatter_block(MPI_IN_PLACE, c.in, count(c), type(c), op(c), world);
    else
      MPI_Reduce_scatter_block(c.in, c.out, count(c), type(c), op(c), world);
  }
  void all_to_all(const PeerCall& c) override {
    MPI_Alltoall(c.in, count(c), type(c), c.out, count(c), type(c), world);
  }
  void scatter(const PeerCall& c) override {
    void* const out = c.in_place && rank_ == c.root ? MPI_IN_PLACE : c.out;
    MPI_Scatter(c.in, count(c), type(c), out, count(c), type(c), c.root, world);
  }
  void gather(const PeerCall& c) override {
    const void* const in = c.in_place && rank_ == c.root ? MPI_IN_PLACE : c.in;
    MPI_Gather(in, count(c), type(c), c.out, count(c), type(c), c.root, world);
  }
  void barrier() override { MPI_Barrier(world); }
  void send(const PeerCall& c, int to) override { MPI_Send(c.in, count(c), type(c), to, 0, world); }
  void recv(const PeerCall& c, int from) override {
    MPI_Recv(c.out, count(c), type(c), from, 0, world, MPI_STATUS_IGNORE);
  }
  void abort() override { MPI_Abort(world, 1); }

 private:
  static int count(const PeerCall& c) { return static_cast<int>(c.count); }
  static MPI_Datatype type(const PeerCall& c) { return type_of(c.dtype); }
  static MPI_Op op(const PeerCall& c) { return op_of(c.op.kind()); }

  static inline const MPI_Comm world = MPI_COMM_WORLD;
  int rank_ = 0;
};

}  // namespace

std::unique_ptr<Peer> make_mpi_peer() { return std::make_unique<MpiPeer>(); }

}  // namespace distlab::bench
