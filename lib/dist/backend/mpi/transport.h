// The Transport of one operation: it carries a message, and has the scratch memory of a collective.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "dist/backend/mpi/flight.h"
#include "dist/transport/transport.h"

namespace dist::mpi {

// By group rank: the ranks with which this rank has exchanged messages.
struct Correspondents {
  explicit Correspondents(int ranks)
      : sent_to(static_cast<std::size_t>(ranks)), heard_from(static_cast<std::size_t>(ranks)) {}
  std::vector<std::atomic<bool>> sent_to, heard_from;
};

class FlightTransport final : public Transport {
 public:
  // `operation` is read only now; a message's tensors are kept for as long as MPI may touch them.
  FlightTransport(std::shared_ptr<const Communicator> communicator, std::shared_ptr<Endpoint> endpoint,
                  TransportOptions options, const Operation& operation,
                  std::shared_ptr<Correspondents> correspondents);

  int rank() const override { return flight_.communicator().rank(); }
  int size() const override { return flight_.communicator().size(); }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  using Transport::scratch;
  Scratch scratch(const TensorView& like, std::int64_t count) override {
    return {this, flight_.scratch(like.dtype, count)};
  }

  Flight& flight() { return flight_; }

 private:
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t) noexcept override {}     // the end of the Flight cancels it
  void free_scratch(TensorView) noexcept override {}  // it is freed with the Flight
  void check_size();
  [[noreturn]] void refuse_size(int source, std::string_view sent) const;

  const TransportOptions options_;
  const std::shared_ptr<Correspondents> correspondents_;
  const int tag_;
  int peer_ = -1;
  bool receives_ = false;
  Flight flight_;
};

// A number of elements in the type that MPI takes. Error{unsupported} when an int cannot hold it.
int count_of(std::int64_t elements);

}  // namespace dist::mpi
