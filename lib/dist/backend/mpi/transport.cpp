// A Transport whose messages are MPI's: isend() and irecv() start one as a Flight, wait() waits for it and
// compares the sizes, which MPI does not do when a message is smaller than its receive.
#include "dist/backend/mpi/transport.h"

#include <limits>

#include "dist/backend/mpi/types.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/rank_label.h"

namespace dist::mpi {
namespace {

std::string headline(const TransportOptions& options) {
  return fmt::format("rank {}: {}", current_rank_label(), str(options.label));
}

int tag_of(const TransportOptions& options) {
  if (!options.channel.point_to_point) return 0;
  const auto highest = static_cast<std::uint64_t>(highest_tag());
  if (options.channel.tag > highest)
    fail(Errc::unsupported,
         "{}: the tag {} is above {}, the highest tag of MPI (MPI_TAG_UB); use a smaller one",
         headline(options), options.channel.tag, highest);
  return static_cast<int>(options.channel.tag);
}

}  // namespace

int count_of(std::int64_t elements) {
  if (elements > std::numeric_limits<int>::max())
    fail(Errc::unsupported,
         "rank {}: {} elements in one call of the mpi backend: MPI counts with int, up to {}; "
         "split the tensor",
         current_rank_label(), elements, std::numeric_limits<int>::max());
  return static_cast<int>(elements);
}

FlightTransport::FlightTransport(std::shared_ptr<const Communicator> communicator,
                                 std::shared_ptr<Endpoint> endpoint, TransportOptions options,
                                 const Operation& operation, std::shared_ptr<Correspondents> correspondents)
    : options_(std::move(options)),
      correspondents_(std::move(correspondents)),
      tag_(tag_of(options_)),
      flight_(std::move(communicator), Watch(std::move(endpoint), options_, operation)) {
  if (options_.channel.point_to_point) flight_.carry(operation);
}

Request FlightTransport::isend(TensorView data, int dst) {
  peer_ = dst;
  correspondents_->sent_to[static_cast<std::size_t>(dst)] = true;
  const int count = count_of(data.count);
  const bool waits_for_receiver = options_.mode == SendMode::rendezvous;
  flight_.start(waits_for_receiver ? "MPI_Issend" : "MPI_Isend", [&](MPI_Comm comm, MPI_Request* request) {
    return (waits_for_receiver ? MPI_Issend : MPI_Isend)(data.data, count, type_of(data.dtype), dst, tag_,
                                                         comm, request);
  });
  return {this, 0};
}

Request FlightTransport::irecv(TensorView data, int src) {
  receives_ = true;
  const int count = count_of(data.count);
  flight_.start("MPI_Irecv", [&](MPI_Comm comm, MPI_Request* request) {
    return MPI_Irecv(data.data, count, type_of(data.dtype), src == any_rank ? MPI_ANY_SOURCE : src, tag_,
                     comm, request);
  });
  return {this, 0};
}

int FlightTransport::wait(std::uint64_t) {
  try {
    flight_.wait();
  } catch (const Error& error) {
    if (receives_ && error.code() == Errc::mismatch) refuse_size(flight_.status().MPI_SOURCE, "more");
    throw;
  }
  if (receives_) check_size();
  if (receives_) correspondents_->heard_from[static_cast<std::size_t>(peer_)] = true;
  return peer_;
}

bool FlightTransport::test(std::uint64_t) {
  if (flight_.has_ended()) return true;
  flight_.watch().look();
  return false;
}

// To MPI, a receive that is larger than its message is not an error.
void FlightTransport::check_size() {
  const MPI_Status& status = flight_.status();
  MPI_Count bytes = 0;
  check(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
  peer_ = status.MPI_SOURCE;
  if (static_cast<std::uint64_t>(bytes) != options_.bytes) refuse_size(peer_, fmt::to_string(bytes));
}

void FlightTransport::refuse_size(int source, std::string_view sent) const {
  fail(Errc::mismatch,
       "{} expects {} from rank {}, which sent {}; the sizes of a message and of its receive must be equal",
       headline(options_), counted(options_.bytes, "byte"), options_.members[source], sent);
}

}  // namespace dist::mpi
