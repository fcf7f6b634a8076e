// The "nccl" backend: every collective on device tensors by NCCL's own calls. What is not on a device is run
// as the host backend runs it (StreamBackend).
#pragma once

#include <memory>
#include <string>

#include "dist/backend/nccl/communicator.h"
#include "dist/backend/stream_backend.h"

namespace dist::nccl {

class NcclBackend final : public StreamBackend {
 public:
  NcclBackend(const BackendContext& context, std::shared_ptr<Library> library);
  ~NcclBackend() override;

  bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, DeviceType device,
                std::string* why) const override;

 private:
  void connect(const Operation& operation) override;
  Way way_of(const Operation& operation) const override;
  void start(const Operation& operation) override;
  void look(const Operation& operation) override;
  void let_go() noexcept override;
  void part() override;
  Patience patience_for(const Operation& operation);

  const std::shared_ptr<Library> library_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace dist::nccl
