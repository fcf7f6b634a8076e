// The "cuda" backend. Collectives on device tensors run on the ranks' own memory (device_algorithms.h), on a
// stream of the group: a call waits on the host for the others' calls only, and the caller's current stream
// for the result. What that cannot do goes through the host, as do all operations where ranks do not reach
// each other's memory. Operations on CPU tensors are the host backend's.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "dist/backend/backend.h"
#include "dist/backend/composed.h"
#include "dist/backend/lifeline.h"
#include "dist/backend/progress_thread.h"
#include "dist/backend/stream_watch.h"
#include "dist/transport/device_peers.h"

namespace dist {

class DeviceBackend final : public Backend {
 public:
  explicit DeviceBackend(const BackendContext& context);
  ~DeviceBackend() override;

  std::string_view name() const override { return "cuda"; }
  bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, DeviceType device,
                std::string* why) const override;
  int run(const Operation& operation) override;
  std::shared_ptr<WorkState> submit(Operation operation) override;
  std::vector<std::string> finish() override;
  std::string algorithm_for(const Operation& operation) const override;

 private:
  void run_now(const Operation& operation);
  void run_on_stream(const Operation& operation);
  void run_direct_on_stream(const Operation& operation, const std::shared_ptr<StreamPoints>& points);
  void connect(const Operation& operation);
  TransportOptions options_of(const Operation& operation, std::string label) const;
  std::exception_ptr abandon(const Operation& operation);
  std::shared_ptr<StreamPoints> expect(const Operation& operation);
  std::shared_ptr<StreamPoints> take_points(const Operation& operation);
  void break_by(const std::exception& error);
  std::string broken_by();
  void refuse_if_broken(const Operation& operation);
  void leave();

  BackendContext context_;
  ComposedBackend host_;
  // Made by the first collective on a device.
  std::optional<Device> device_;
  std::optional<Stream> stream_;
  bool hosts_asked_ = false;
  std::unique_ptr<PeerMemory> hosts_;   // null: ranks of several hosts, or of one without shared memory
  std::unique_ptr<DevicePeers> peers_;  // null: through the host
  std::unique_ptr<Lifeline> lifeline_;

  std::mutex mutex_;  // of the two below
  // The first collective that failed: the ranks are no longer in step then.
  std::string broken_by_;
  std::map<std::uint64_t, std::shared_ptr<StreamPoints>>
      points_;             // of collectives that have not run, by number
  StreamWatch watch_;      // after what its thread uses
  ProgressThread thread_;  // last: its thread uses the rest
};

}  // namespace dist
