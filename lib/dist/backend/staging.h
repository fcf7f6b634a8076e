// Operations on device tensors that run on the host: a twin of the operation with copies of its tensors on
// the CPU. The way of last resort: any backend of the host can run it.
#pragma once

#include "dist/backend/operation.h"
#include "dist/core/device.h"

namespace dist {

class StagedOperation {
 public:
  // Copies what will be read to the host, on the current stream, and waits for it.
  explicit StagedOperation(const Operation& original);
  const Operation& on_host() const { return host_; }
  // Copies the results back, on the current stream, and waits for it.
  void copy_back();

 private:
  Operation original_;  // owns its tensors
  Operation host_;
};

}  // namespace dist
