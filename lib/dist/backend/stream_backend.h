// What the backends of device tensors have in common. Collectives run on a stream of the group, after the
// work of the caller's current stream, which waits for the result; the host waits at most for the other
// ranks' calls. A thread watches their outcome (stream_watch.h). What the derived class cannot do on
// the device goes through the host. Messages are copies between devices, which the hosts order; operations on
// CPU tensors are run as the host backend runs them.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/backend/host_backend.h"
#include "dist/backend/liveness_probe.h"
#include "dist/backend/ordered.h"
#include "dist/backend/staging.h"
#include "dist/backend/stream_events.h"
#include "dist/backend/stream_watch.h"
#include "dist/direct/device/copy_batch.h"

namespace dist {

class StreamBackend : public OrderedBackend {
 public:
  bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device, std::string* why) const override;
  std::string algorithm_for(const Operation& operation) const final;
  std::vector<std::shared_ptr<WorkState>> submit_batch(std::vector<Operation> operations) override;

 protected:
  StreamBackend(std::string_view name, const BackendContext& context);  // `name`: static storage
  // To be called first in a derived class's destructor, because threads use the rest.
  void stop();
  // Waits until nothing is under way; returns whether all went well and this rank is connected.
  bool is_at_rest();

  // The next three are called for one collective on device tensors at a time; the group's stream is the
  // current one.
  virtual void connect(const Operation& operation) = 0;  // once, before the first; every rank calls it
  // How it runs on the device; without an algorithm it goes through the host. The same on all ranks.
  virtual Plan plan_of(const Operation& operation) const = 0;
  virtual void start(const Operation& operation) = 0;  // enqueues it
  // Throws when what was enqueued cannot end, or has ended with an error. Called on the watch's thread.
  virtual void look(const Operation&) {}
  // All operations have succeeded: exchanges the last messages with the other ranks. The group's stream is
  // the current one.
  virtual void part() {}

  // Whether the derived class carries this message on the device.
  virtual bool is_elsewhere(const Operation&) const { return false; }
  // For an operation that a derived class enqueues together with those of other backends, instead of
  // start(): its events; what comes before it, which throws its error; what comes after it, which returns its
  // error or null; and what to do when it could not be enqueued.
  std::shared_ptr<StreamEvents> mark(const Operation& operation) final;
  void begin_apart(const Operation& operation, const StreamEvents& points);
  std::exception_ptr end_apart(const Operation& operation, const std::shared_ptr<StreamEvents>& points);
  std::exception_ptr fail_apart(const Operation& operation, const std::exception_ptr& error);
  // For operations in a graph that is launched on the current stream (GraphBackend): that stream waits for
  // the group's, and afterwards the group's for that one.
  void begin_in_graph(std::span<const Operation> operations);
  void end_in_graph(std::span<const Operation> operations);
  // From now on the death of a member ends what is enqueued.
  void watch_members(const Operation& operation);
  void wait_a_little();  // throws when a member has gone; from any thread
  const AlgorithmChooser& chooser() const { return host_.chooser(); }
  // Waits for all members on the host, but not for what runs on devices.
  void meet_on_host(Timeout timeout);
  Device device() const { return *device_; }
  StreamHandle stream() const { return stream_->handle(); }
  // For what outlives the backend on purpose.
  std::optional<Stream> take_stream() { return std::move(stream_); }

 private:
  int carry(const Operation& operation) final;
  std::shared_ptr<WorkState> submit_message(Operation operation) final;
  std::vector<std::shared_ptr<MessageWork>> messages() final;
  std::shared_ptr<WorkState> submit_in(Operation operation, std::shared_ptr<CopyBatch> batch);
  std::unique_ptr<Transport> open_on_device(const Operation& operation,
                                            std::shared_ptr<CopyBatch> batch = nullptr);
  void prepare(const Operation& operation) final;
  Plan choose(const Operation& operation) final;
  void execute(const Operation& operation) final;
  void enqueue(const Operation& operation, const std::shared_ptr<StreamEvents>& points) final;
  void leave() final;
  void announce(const Operation& operation);
  void give_up(const Operation& operation, const std::exception_ptr& error);
  // Why a collective on that device is refused; empty: it is not.
  std::string other_device(Device device) const;

  HostCollectives host_;
  DeviceMessages messages_;
  // Polls the messages on devices, whatever the endpoint does by itself and whichever collective runs.
  std::optional<ProgressThread> apart_;
  // Made by the first collective on a device.
  std::optional<Device> device_;
  std::optional<Stream> stream_;
  StreamEventsPool points_;
  std::shared_ptr<StreamEvents> points_of_graph_;  // between the two calls for a launch
  bool connected_ = false;
  std::optional<StagingRoom> room_;  // for collectives that go through the host
  std::unique_ptr<LivenessProbe> liveness_probe_;
  StreamWatch watch_;
};

}  // namespace dist
