// The "cuda" backend. connect() tries once to reach the members' device memory; plan_of() chooses: on that
// memory (run_on_peers), by messages between devices (run_by_messages), or through the host. detach(), part()
// and the destructor end it; what a stream may still use is kept until the process ends (Kept).
#include "dist/backend/device_backend.h"

#include <list>
#include <mutex>
#include <utility>

#include "dist/backend/entries.h"
#include "dist/backend/operation_label.h"
#include "dist/backend/run_collective.h"
#include "dist/backend/run_direct.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/direct/device/device_transport.h"

namespace dist {

namespace {

constexpr Timeout leave_timeout = std::chrono::seconds(5);
constexpr Timeout settle_timeout = std::chrono::seconds(2);
constexpr Timeout peer_check_interval = std::chrono::microseconds(500);  // how often to check for a peer

// What a stream that still waits may use, kept until the process ends.
struct Kept {
  std::shared_ptr<Endpoint> endpoint;  // it maps the other ranks' memory
  std::unique_ptr<PeerMemory> hosts;
  std::unique_ptr<DevicePeers> peers;
  std::optional<Stream> stream;
};

void keep_for_ever(Kept kept) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::list<Kept>;
  const std::scoped_lock lock(*mutex);
  all->push_back(std::move(kept));
}

}  // namespace

DeviceBackend::DeviceBackend(const BackendContext& context) : StreamBackend("cuda", context) {
  (void)wanted_sync();  // an error here reaches all ranks before anything runs
}

DeviceBackend::~DeviceBackend() {
  stop();
  if (!peers_ || peers_->settle(settle_timeout)) return;
  log(LogLevel::warn,
      "a stream of a group that has ended still waits on {}, although it was released; the memory of other "
      "ranks that it may use stays mapped until this process ends",
      device().str());
  keep_for_ever({context_.endpoint, std::move(hosts_), std::move(peers_), take_stream()});
}

// All ranks get the same result.
void DeviceBackend::connect(const Operation& operation) {
  const auto options = [&] {
    return options_of(context_, operation, std::string(dist::name(operation.kind)), device_peers_tag);
  };
  hosts_ = connect_direct(*context_.endpoint, options());
  if (hosts_) peers_ = DevicePeers::connect(*hosts_, device(), OperationLabel(options));
  connected_ = true;
  if (peers_ && peers_->sync() == SyncMode::flags) watch_members(operation);
}

Plan DeviceBackend::plan_of(const Operation& operation) const {
  if (connected_ && !peers_) return {};
  const DeviceAlgorithm* const direct = direct_for(operation);
  return {direct ? direct->name : chooser().pick(operation, false).name, true};
}

void DeviceBackend::start(const Operation& operation) {
  const DeviceAlgorithm* const direct = direct_for(operation);
  direct ? run_on_peers(*direct, operation) : run_by_messages(chooser().pick(operation, false), operation);
}

// Whether ranks share devices is known once they are connected, and they are before anything runs.
const DeviceAlgorithm* DeviceBackend::direct_for(const Operation& operation) const {
  return device_algorithm(operation, chooser().asked_for(operation), context_.members.size(),
                          connected_ && peers_ && peers_->shares_devices());
}

void DeviceBackend::run_on_peers(const DeviceAlgorithm& algorithm, const Operation& operation) {
  const auto options = [&] {
    return options_of(context_, operation, fmt::format("{}_{}", algorithm.name, dist::name(operation.kind)),
                      device_peers_tag);
  };
  run_direct(*peers_, operation, algorithm.run, OperationLabel(options),
             exposed_by(algorithm, peers_->shares_devices()));
}

void DeviceBackend::run_by_messages(const AlgorithmEntry& algorithm, const Operation& operation) {
  const auto options = [&] {
    return options_of(context_, operation, fmt::format("{}_{}", algorithm.name, dist::name(operation.kind)));
  };
  TransportOptions of_receipts = options();
  of_receipts.channel.tag |= receipts_tag;
  of_receipts.channel.opcode = 0;  // the library's own: not compared with earlier operations
  of_receipts.channel.elements = 0;
  const OperationLabel label(options);
  DeviceTransport net(*peers_,
                      {context_.endpoint->open(options()), context_.endpoint->open(std::move(of_receipts))},
                      label, [this] { context_.endpoint->progress(peer_check_interval); });
  run_collective(net, operation, [&](CollectiveArgs args) {
    args.segment_bytes = chooser().segment_bytes();
    algorithm.run(net, args);
  });
}

void DeviceBackend::look(const Operation& operation) {
  if (!peers_) return;
  const auto options = [&] {
    return options_of(context_, operation, std::string(dist::name(operation.kind)), device_peers_tag);
  };
  peers_->check(OperationLabel(options));
}

void DeviceBackend::detach() noexcept {
  if (peers_) peers_->give_up();
}

// Afterwards the other ranks need nothing more from this rank.
void DeviceBackend::part() {
  if (!peers_) return;
  Operation leaving;
  leaving.timeout = leave_timeout;
  const Deadline deadline = Deadline::after(leave_timeout);
  const auto options = [&] {
    TransportOptions made = options_of(context_, leaving, "leaving the group", device_peers_tag);
    made.deadline = deadline;
    return made;
  };
  peers_->leave(OperationLabel(options), [this] { wait_a_little(); });
}

namespace cuda_backend {

bool available(std::string* why) {
  try {
    if (device_api(DeviceType::cuda).count() == 0) fail(Errc::unsupported, "there is no cuda device");
    if (why) why->clear();
    return true;
  } catch (const Error& error) {
    if (why) *why = fmt::format("{}; use backend \"host\"", error.what());
    return false;
  }
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  std::string why;
  if (!available(&why)) fail(Errc::unsupported, "{}", why);
  return std::make_unique<DeviceBackend>(context);
}

}  // namespace cuda_backend
}  // namespace dist
