// The collectives as MPI calls: one function for each kind, and run(), which picks it. Row brings a list of
// tensors into the form that MPI's functions with counts and displacements take.
#include "dist/backend/mpi/collectives.h"

#include <algorithm>

#include "dist/backend/mpi/transport.h"
#include "dist/backend/mpi/types.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"

namespace dist::mpi {
namespace {

// A list with one tensor per rank in the form that MPI takes: one run of memory with counts and
// displacements. It is the tensors themselves where they are contiguous, else a copy.
class Row {
 public:
  Row(Flight& flight, std::span<const TensorView> views)
      : views_(views), counts_(flight.numbers(views.size())), places_(flight.numbers(views.size())) {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < views.size(); ++i) {
      counts_[i] = count_of(views[i].count);
      places_[i] = count_of(total);
      total += views[i].count;
    }
    count_of(total);
    is_copy_ = !lie_behind_each_other();
    const auto first = std::ranges::find_if(views, [](const auto& view) { return view.count > 0; });
    if (is_copy_)
      all_ = flight.scratch(views[0].dtype, total);
    else if (first != views.end())
      all_ = *first;
  }
  void fill() const {
    for (std::size_t i = 0; is_copy_ && i < views_.size(); ++i) copy(part(i), views_[i]);
  }
  void copy_back() const {
    for (std::size_t i = 0; is_copy_ && i < views_.size(); ++i) copy(views_[i], part(i));
  }
  std::byte* data() const { return all_.data; }
  const int* counts() const { return counts_.data(); }
  const int* places() const { return places_.data(); }
  // Whether `rank`'s part is this very memory.
  bool has_in_place(int rank, const TensorView& view) const {
    return view.count > 0 && !is_copy_ && views_[static_cast<std::size_t>(rank)].data == view.data;
  }

 private:
  TensorView part(std::size_t i) const { return all_.slice(places_[i], counts_[i]); }
  bool lie_behind_each_other() const {
    const std::byte* end = nullptr;
    for (const TensorView& view : views_) {
      if (view.count == 0) continue;
      if (end && view.data != end) return false;
      end = view.data + view.bytes();
    }
    return true;
  }

  const std::span<const TensorView> views_;
  std::vector<int>&counts_, &places_;
  TensorView all_;
  bool is_copy_ = false;
};

void broadcast(Flight& flight, const CollectiveArgs& args) {
  flight.start("MPI_Ibcast", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Ibcast(args.out.data, count_of(args.out.count), type_of(args.out.dtype), args.root, comm,
                      request);
  });
  flight.wait();
}

void reduce_to_root(Flight& flight, const CollectiveArgs& args) {
  const bool is_root = flight.communicator().rank() == args.root;
  const MPI_Op op = op_of(args.op.kind(), args.out.dtype);
  flight.start("MPI_Ireduce", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Ireduce(is_root ? MPI_IN_PLACE : args.out.data, is_root ? args.out.data : nullptr,
                       count_of(args.out.count), type_of(args.out.dtype), op, args.root, comm, request);
  });
  flight.wait();
}

void all_reduce(Flight& flight, const CollectiveArgs& args) {
  const MPI_Op op = op_of(args.op.kind(), args.out.dtype);
  flight.start("MPI_Iallreduce", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, args.out.data, count_of(args.out.count), type_of(args.out.dtype), op,
                          comm, request);
  });
  flight.wait();
}

void scatter(Flight& flight, const CollectiveArgs& args) {
  const Row row(flight, args.ins);  // empty on ranks that are not the root
  row.fill();
  const MPI_Datatype type = type_of(args.out.dtype);
  const bool in_place = !args.ins.empty() && row.has_in_place(args.root, args.out);
  flight.start("MPI_Iscatterv", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Iscatterv(row.data(), row.counts(), row.places(), type,
                         in_place ? MPI_IN_PLACE : args.out.data, count_of(args.out.count), type, args.root,
                         comm, request);
  });
  flight.wait();
}

void gather(Flight& flight, const CollectiveArgs& args) {
  const Row row(flight, args.outs);  // empty on ranks that are not the root
  const MPI_Datatype type = type_of(args.in.dtype);
  const bool in_place = !args.outs.empty() && row.has_in_place(args.root, args.in);
  flight.start("MPI_Igatherv", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Igatherv(in_place ? MPI_IN_PLACE : args.in.data, count_of(args.in.count), type, row.data(),
                        row.counts(), row.places(), type, args.root, comm, request);
  });
  flight.wait();
  row.copy_back();
}

void all_gather(Flight& flight, const CollectiveArgs& args) {
  const Row row(flight, args.outs);
  const MPI_Datatype type = type_of(args.in.dtype);
  const bool in_place = row.has_in_place(flight.communicator().rank(), args.in);
  flight.start("MPI_Iallgatherv", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Iallgatherv(in_place ? MPI_IN_PLACE : args.in.data, count_of(args.in.count), type, row.data(),
                           row.counts(), row.places(), type, comm, request);
  });
  flight.wait();
  row.copy_back();
}

void reduce_scatter(Flight& flight, const CollectiveArgs& args) {
  const Row row(flight, args.ins);
  row.fill();
  const MPI_Op op = op_of(args.op.kind(), args.out.dtype);
  flight.start("MPI_Ireduce_scatter", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Ireduce_scatter(row.data(), args.out.data, row.counts(), type_of(args.out.dtype), op, comm,
                               request);
  });
  flight.wait();
}

void all_to_all(Flight& flight, const CollectiveArgs& args) {
  const Row from(flight, args.ins), to(flight, args.outs);
  from.fill();
  const MPI_Datatype type = type_of(args.ins[0].dtype);
  flight.start("MPI_Ialltoallv", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Ialltoallv(from.data(), from.counts(), from.places(), type, to.data(), to.counts(),
                          to.places(), type, comm, request);
  });
  flight.wait();
  to.copy_back();
}

void barrier(Flight& flight) {
  flight.start("MPI_Ibarrier",
               [](MPI_Comm comm, MPI_Request* request) { return MPI_Ibarrier(comm, request); });
  flight.wait();
}

}  // namespace

void run(Flight& flight, OpKind kind, const CollectiveArgs& args) {
  switch (kind) {
    case OpKind::broadcast: return broadcast(flight, args);
    case OpKind::reduce: return reduce_to_root(flight, args);
    case OpKind::all_reduce: return all_reduce(flight, args);
    case OpKind::scatter: return scatter(flight, args);
    case OpKind::gather: return gather(flight, args);
    case OpKind::all_gather: return all_gather(flight, args);
    case OpKind::reduce_scatter: return reduce_scatter(flight, args);
    case OpKind::all_to_all: return all_to_all(flight, args);
    case OpKind::barrier: return barrier(flight);
    case OpKind::send:
    case OpKind::recv: break;
  }
  fail(Errc::internal, "mpi::run was given a {}", name(kind));
}

}  // namespace dist::mpi
