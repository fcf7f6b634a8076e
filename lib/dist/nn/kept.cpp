#include "dist/nn/kept.h"

#include "dist/core/fail.h"
#include "dist/nn/module.h"

namespace dist::nn {

KeptBase::KeptBase(Module& owner) : module_(&owner) { owner.kept_.push_back(this); }

void KeptBase::fail_empty() const {
  fail(Errc::invalid_argument, "{}: backward() without a forward() before it; each forward() has one",
       module_ ? module_->str() : name_);
}

}  // namespace dist::nn
