#include "dist/backend/mpi/backend.h"

#include <algorithm>
#include <chrono>

#include "dist/backend/mpi/collectives.h"
#include "dist/backend/mpi/library.h"
#include "dist/backend/mpi/transport.h"
#include "dist/backend/mpi_plugin.h"
#include "dist/backend/operation_options.h"
#include "dist/backend/run_collective.h"
#include "dist/core/fail.h"

namespace dist::mpi {
namespace {

// MPI moves messages while somebody calls it: the progress thread does, which tests what is under way between
// these pauses.
class Pauses final : public Mover {
 public:
  void progress(Timeout patience) override {
    constexpr Timeout pause = std::chrono::microseconds(100);
    dist::sleep(std::min(patience, pause));
  }
  void interrupt() override {}  // a pause is short
};

}  // namespace

MpiBackend::MpiBackend(const BackendContext& context)
    : OrderedBackend("mpi", context, std::make_shared<Pauses>()),
      communicator_(std::make_shared<const Communicator>(context)) {}

MpiBackend::~MpiBackend() { stop(); }

std::string MpiBackend::algorithm_for(const Operation& operation) const {
  if (!operation.algorithm.empty() && operation.algorithm != "mpi")
    fail(Errc::invalid_argument,
         "the mpi backend leaves the algorithm to MPI, so \"{}\" cannot be chosen; leave .algorithm empty, "
         "or use backend \"host\"",
         operation.algorithm);
  return is_collective(operation.kind) ? "mpi" : "";
}

std::unique_ptr<Transport> MpiBackend::open_message(const Operation& operation) {
  return std::make_unique<FlightTransport>(
      communicator_, context_.endpoint,
      options_of(context_, operation, std::string(dist::name(operation.kind))), operation);
}

int MpiBackend::carry(const Operation& operation) {
  const auto transport = open_message(operation);
  return start(*transport, message_of(operation)).wait();
}

Way MpiBackend::choose(const Operation&) { return {.algorithm = "mpi"}; }

void MpiBackend::execute(const Operation& operation) {
  FlightTransport net(communicator_, context_.endpoint,
                      options_of(context_, operation, fmt::format("mpi_{}", dist::name(operation.kind))),
                      operation);
  try {
    run_collective(net, operation,
                   [&](const CollectiveArgs& args) { mpi::run(net.flight(), operation.kind, args); });
  } catch (...) {
    net.flight().carry(operation);  // the caller may free its tensors now, MPI may still use them
    throw;
  }
}

const Plugin dist_mpi_plugin{.make = [](const BackendContext& context) -> std::unique_ptr<Backend> {
                               return std::make_unique<MpiBackend>(context);
                             },
                             .finalize = finalize};

}  // namespace dist::mpi
