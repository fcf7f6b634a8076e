// What the backends have in common: collectives run one at a time, in the order they were submitted, on the
// caller's thread when nothing is pending, else on the group's progress thread; messages are posted at once
// and progress on their own. How either is carried out is the derived class's.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dist/backend/backend.h"
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
  // First thing in a derived class's destructor: the progress thread uses the rest.
  void stop();
  void wait_idle() { thread_->wait_idle(); }  // no collective is left that has not been enqueued

  // What else runs in the order it was submitted in, as collectives do.
  virtual bool is_ordered(const Operation& operation) const { return is_collective(operation.kind); }
  // Who carries a message instead of this one; null: nobody.
  virtual Backend* lane_of(const Operation&) { return nullptr; }
  // A transport for this message alone, by default on the endpoint.
  virtual std::unique_ptr<Transport> open_message(const Operation& operation);
  // The whole of one, for a rank that waits: the other rank. As open_message() and what follows, perhaps in
  // fewer steps.
  virtual int carry(const Operation& operation);
  // One that the caller does not wait for.
  virtual std::shared_ptr<WorkState> submit_message(Operation operation);

  // Called by the thread that issues a collective. Null: it runs on the host, and has ended when execute()
  // returns.
  virtual std::shared_ptr<StreamEvents> mark(const Operation&) { return nullptr; }
  // The next are called for one collective at a time, by whichever thread runs it.
  virtual void prepare(const Operation&) {}  // may talk to the other ranks
  // How it will run: an error here is every rank's.
  virtual Plan choose(const Operation& operation) = 0;
  virtual void execute(const Operation& operation) = 0;  // what was chosen last
  // The same for one with points: enqueues it. Whoever watches the stream says when it has ended.
  virtual void enqueue(const Operation&, const std::shared_ptr<StreamEvents>&) {}
  // A collective has failed: what may wait for it on other threads or streams must not.
  virtual void detach() noexcept {}
  virtual void finish_lanes() {}
  // No collective runs any more, and none will.
  virtual void leave() {}
  // Nor is a send of this rank under way.
  virtual void take_leave_of_peers() {}

  // Runs it on this thread: run_as(*this, ...), of a derived class where that is to know its own functions.
  virtual void run_collective_now(const Operation& operation, const std::shared_ptr<StreamEvents>& points);
  template <class Self>
  void run_as(Self& self, const Operation& operation, const std::shared_ptr<StreamEvents>& points);

  // A collective has failed, perhaps after execute(): the ranks are no longer in step, and later ones end
  // with Error{aborted}. The first reason counts. Thread-safe.
  void break_by(const std::exception& error);
  // The same reason, told better.
  void explain_break(const std::exception& error, const std::exception& told);
  void refuse_if_broken(const Operation& operation);
  bool is_broken() const { return broken_.load(std::memory_order_acquire); }

  const BackendContext context_;

 private:
  int run_message(const Operation& operation);
  // lane_of() and mark(), noting what they throw: the operation has been written down.
  Backend* lane_for(const Operation& operation);
  std::shared_ptr<StreamEvents> marked(const Operation& operation);
  std::exception_ptr abandon(const Operation& operation);

  const std::string_view name_;
  const std::shared_ptr<Mover> mover_;
  std::mutex mutex_;  // of the next
  std::string broken_by_;
  std::atomic<bool> broken_{false};
  std::optional<ProgressThread> thread_;
};

}  // namespace dist
