// What all backends have in common: collectives run one at a time, in the order in which they were submitted,
// on the caller's thread when nothing is pending, else on the group's progress thread; messages are posted at
// once and progress on their own. The derived class decides how either is carried out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/backend/backend.h"
#include "dist/backend/breakage.h"
#include "dist/backend/messages.h"
#include "dist/backend/progress_thread.h"

namespace dist {

class OrderedBackend : public Backend {
 public:
  std::string_view name() const final { return name_; }
  bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device, std::string* why) const override;
  int run(const Operation& operation) final;
  std::shared_ptr<WorkState> submit(Operation operation) final;
  std::vector<std::string> finish() final;

 protected:
  // `name`: static storage.
  OrderedBackend(std::string_view name, const BackendContext& context, std::shared_ptr<Mover> mover);
  // To be called first in a derived class's destructor, because the progress thread uses the rest.
  void stop();
  void wait_idle() { thread_->wait_idle(); }  // every collective has been enqueued afterwards
  bool is_idle() const { return thread_->is_idle(); }

  // Which operations run in the order in which they were submitted, as collectives do.
  virtual bool is_ordered(const Operation& operation) const { return is_collective(operation.kind); }
  // The backend that carries a message instead of this one; null: this one does.
  virtual Backend* lane_of(const Operation&) { return nullptr; }
  // A transport for this message alone, by default on the endpoint.
  virtual std::unique_ptr<Transport> open_message(const Operation& operation) {
    return dist::open_message(context_, operation);
  }
  // Carries a whole message for a rank that waits; returns the other rank. Does what open_message() and the
  // calls after it do, perhaps in fewer steps.
  virtual int carry(const Operation& operation) { return carry_message(context_, operation); }
  // Starts a message that the caller does not wait for.
  virtual std::shared_ptr<WorkState> submit_message(Operation operation) {
    return start_message(
        std::move(operation), [this](const Operation& of) { return open_message(of); }, *thread_);
  }
  // The same on what `open` returns; `thread` looks after it.
  std::shared_ptr<WorkState> start_message(Operation operation, const OpenMessage& open,
                                           ProgressThread& thread) {
    return dist::start_message(context_, mover_, std::move(operation), open, thread);
  }
  // Those that have not ended.
  virtual std::vector<std::shared_ptr<MessageWork>> messages() { return thread_->messages(); }

  // Called by the thread that issues a collective. Null: the collective runs on the host, and has ended when
  // execute() returns.
  virtual std::shared_ptr<StreamEvents> mark(const Operation&) { return nullptr; }
  // The following are called for one collective at a time, by the thread that runs it.
  virtual void prepare(const Operation&) {}  // may communicate with the other ranks
  // How it will run. An error thrown here is thrown on every rank.
  virtual Plan choose(const Operation& operation) = 0;
  virtual void execute(const Operation& operation) = 0;  // runs what was chosen last
  // The same for a collective on a stream: enqueues it. The watcher of the stream reports when it has ended.
  virtual void enqueue(const Operation&, const std::shared_ptr<StreamEvents>&) {}
  // A collective has failed: what waits for it on other threads or streams must be released.
  virtual void detach() noexcept {}
  virtual void finish_lanes() {}
  // No collective is running any more, and none will.
  virtual void leave() {}
  // In addition, no send of this rank is under way any more.
  virtual void take_leave_of_peers() {}

  const BackendContext context_;
  Breakage breakage_;  // set where a collective has failed, perhaps after execute()

 private:
  void run_collective_now(const Operation& operation, const std::shared_ptr<StreamEvents>& points);
  int run_message(const Operation& operation);
  std::exception_ptr abandon(const Operation& operation);

  const std::string_view name_;
  const std::shared_ptr<Mover> mover_;
  std::optional<ProgressThread> thread_;
};

}  // namespace dist
