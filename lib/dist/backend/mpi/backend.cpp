// The "mpi" backend. Order and messages are OrderedBackend's; execute() and carry() run one operation as a
// Flight; open_message() opens a FlightTransport; take_leave_of_peers() lets sends that others still have
// under way complete.
#include "dist/backend/mpi/backend.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "dist/backend/mpi/collectives.h"
#include "dist/backend/mpi/library.h"
#include "dist/backend/mpi/transport.h"
#include "dist/backend/mpi_plugin.h"
#include "dist/backend/run_collective.h"
#include "dist/core/fail.h"
#include "dist/transport/engine/tuning.h"

namespace dist::mpi {
namespace {

// MPI moves messages while a thread calls it: the progress thread does, which tests what is under way between
// these pauses.
class Pauses final : public Mover {
 public:
  void progress(Timeout patience) override {
    constexpr Timeout pause = std::chrono::microseconds(100);
    dist::sleep(std::min(patience, pause));
  }
  void interrupt() override {}  // a pause is short
};

// Adds to MPI's own words what was called, and what the ranks may have done differently.
void explain(const Error& error, const Operation& operation) {
  if (error.code() != Errc::mismatch && error.code() != Errc::connection) return;
  fail(error.code(),
       "{}, in {}: the ranks may pass different sizes to it, or call different collectives; "
       "DIST_DEBUG=detail compares their calls before MPI sees them",
       error.what(), operation.doing());
}

}  // namespace

MpiBackend::MpiBackend(const BackendContext& context)
    : OrderedBackend("mpi", context, std::make_shared<Pauses>()),
      communicator_(std::make_shared<const Communicator>(context)),
      correspondents_(std::make_shared<Correspondents>(context.members.size())) {}

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
      options_of(context_, operation, std::string(dist::name(operation.kind))), operation, correspondents_);
}

// MPI completes a send while the receiver calls MPI. So a rank that leaves goes on
// calling it until the ranks that have sent it messages say that they wait for no more, or until some seconds
// have passed.
void MpiBackend::take_leave_of_peers() {
  TransportOptions options;
  options.members = context_.members;
  options.channel = {context_.context, goodbye_tag, 0, false};
  options.label.name = "destroy_process_group";
  options.deadline = Deadline::after(net::goodbye_patience);
  const auto net = context_.endpoint->open(std::move(options));
  std::vector<Request> words;
  for (int peer = 0; peer < net->size(); ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    if (peer == net->rank()) continue;
    if (correspondents_->sent_to[at]) words.push_back(net->isend({}, peer));
    if (correspondents_->heard_from[at]) words.push_back(net->irecv({}, peer));
  }
  while (!std::ranges::all_of(words, &Request::is_completed)) {
    progress(communicator_->handle());
    std::this_thread::yield();
  }
}

int MpiBackend::carry(const Operation& operation) {
  const auto transport = open_message(operation);
  return start(*transport, message_of(operation)).wait();
}

Plan MpiBackend::choose(const Operation&) { return {.algorithm = "mpi"}; }

void MpiBackend::execute(const Operation& operation) {
  FlightTransport net(communicator_, context_.endpoint,
                      options_of(context_, operation, fmt::format("mpi_{}", dist::name(operation.kind))),
                      operation, correspondents_);
  try {
    run_collective(net, operation,
                   [&](const CollectiveArgs& args) { mpi::run(net.flight(), operation.kind, args); });
  } catch (const Error& error) {
    net.flight().carry(operation);  // the caller may free its tensors, but MPI may still use them
    explain(error, operation);
    throw;
  }
}

const Plugin dist_mpi_plugin{.make = [](const BackendContext& context) -> std::unique_ptr<Backend> {
                               return std::make_unique<MpiBackend>(context);
                             },
                             .finalize = finalize,
                             .rank_0_address = share_address_of_rank_0};

}  // namespace dist::mpi
