// What the backends of CPU ranks have in common: collectives run one at a time, in the order they were
// submitted, on the caller's thread when nothing is pending, else on the group's progress thread; messages
// are posted at once and progress on their own. How either is carried out is the derived class's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/backend/backend.h"
#include "dist/backend/progress_thread.h"

namespace dist {

class OrderedBackend : public Backend {
 public:
  std::string_view name() const final { return name_; }
  bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, DeviceType device,
                std::string* why) const override;
  int run(const Operation& operation) final;
  std::shared_ptr<WorkState> submit(Operation operation) final;
  std::vector<std::string> finish() final;

 protected:
  // `name`: static storage.
  OrderedBackend(std::string_view name, const BackendContext& context, std::shared_ptr<Mover> mover);
  // First thing in a derived class's destructor: the progress thread uses the rest.
  void stop();

  // A transport for this message alone.
  virtual std::unique_ptr<Transport> open_message(const Operation& operation) = 0;
  // The whole of one, for a rank that waits: the other rank. As open_message() and what follows, perhaps in
  // fewer steps.
  virtual int carry(const Operation& operation);
  // The next three are called for one collective at a time, by whichever thread runs it.
  virtual void prepare(const Operation&) {}  // before the group's first; may talk to the other ranks
  // How it will run: an error here is every rank's.
  virtual Way choose(const Operation& operation) = 0;
  virtual void execute(const Operation& operation) = 0;  // what was chosen last

  TransportOptions options_of(const Operation& operation, std::string label) const;
  TransportOptions without_deadline(const Operation& operation, std::string label) const;

  const BackendContext context_;

 private:
  int run_message(const Operation& operation);
  void run_collective_now(const Operation& operation);
  std::exception_ptr abandon(const Operation& operation);

  const std::string_view name_;
  const std::shared_ptr<Mover> mover_;
  // The first collective that failed: the ranks are no longer in step then, and later ones end with
  // Error{aborted}.
  std::string broken_by_;
  bool prepared_ = false;
  std::optional<ProgressThread> thread_;
};

}  // namespace dist
