// The "mpi" backend: every operation is MPI's own call, on ranks that mpirun started.
#pragma once

#include <memory>
#include <string>

#include "dist/backend/mpi/communicator.h"
#include "dist/backend/mpi/transport.h"
#include "dist/backend/ordered.h"

namespace dist::mpi {

class MpiBackend final : public OrderedBackend {
 public:
  explicit MpiBackend(const BackendContext& context);  // throws the same errors as Communicator
  ~MpiBackend() override;

  // "mpi"; no other algorithm can be named.
  std::string algorithm_for(const Operation& operation) const override;

 private:
  std::unique_ptr<Transport> open_message(const Operation& operation) override;
  int carry(const Operation& operation) override;
  Plan choose(const Operation& operation) override;
  void execute(const Operation& operation) override;
  void take_leave_of_peers() override;

  const std::shared_ptr<const Communicator> communicator_;
  const std::shared_ptr<Correspondents> correspondents_;
};

}  // namespace dist::mpi
