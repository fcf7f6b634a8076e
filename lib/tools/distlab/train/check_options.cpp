#include "distlab/train/check_options.h"

#include <cmath>

#include "dist/core/fail.h"

#include "distlab/train/scheme.h"

namespace distlab {

void check(const TrainOptions& options) {
  using dist::Errc, dist::fail;
  const auto& scheme = scheme_named(options.scheme);
  if (scheme.workers == Workers::one && options.ranks > 1)
    fail(Errc::invalid_argument,
         "--scheme {} is for one rank, not for {}; for several ranks choose --scheme ddp", scheme.name,
         options.ranks);
  if (!std::isfinite(options.lr) || options.lr <= 0)
    fail(Errc::invalid_argument, "--lr is {}; it must be a finite number greater than 0", options.lr);
  if (!std::isfinite(options.momentum) || options.momentum < 0)
    fail(Errc::invalid_argument, "--momentum is {}; it must be a finite number, 0 or greater",
         options.momentum);
  if (options.data != "digits" && options.data != "mnist")
    fail(Errc::invalid_argument, "--data is \"{}\"; choose digits or mnist", options.data);
  if (options.data != "mnist" && !options.folder.empty())
    fail(Errc::invalid_argument, "--dir is the folder of MNIST; add --data mnist");
  if (options.resume && options.checkpoint.empty())
    fail(Errc::invalid_argument, "--resume needs a file to continue from; add --checkpoint FILE");
}

}  // namespace distlab
