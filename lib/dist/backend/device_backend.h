// The "cuda" backend. Collectives on device tensors run on the ranks' own memory (device_algorithms.h); those
// that are not in that table, and those named by the caller, run as algorithms of collectives/ on messages
// between devices (device_transport.h). Everything else is StreamBackend's: where ranks do not reach each
// other's memory, all data goes through the host.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "dist/backend/device_algorithms.h"
#include "dist/backend/stream_backend.h"
#include "dist/direct/device/device_peers.h"

namespace dist {

class DeviceBackend final : public StreamBackend {
 public:
  explicit DeviceBackend(const BackendContext& context);
  ~DeviceBackend() override;

 private:
  void connect(const Operation& operation) override;
  Plan plan_of(const Operation& operation) const override;
  void start(const Operation& operation) override;
  void look(const Operation& operation) override;
  void detach() noexcept override;
  void part() override;

  const DeviceAlgorithm* direct_for(const Operation& operation) const;
  void run_on_peers(const DeviceAlgorithm& algorithm, const Operation& operation);
  void run_by_messages(const AlgorithmEntry& algorithm, const Operation& operation);

  std::atomic<bool> connected_ = false;  // publishes the next two to threads that only read them
  std::unique_ptr<PeerMemory> hosts_;    // null: several hosts, or no shared memory
  std::unique_ptr<DevicePeers> peers_;   // null: data goes through the host
};

}  // namespace dist
