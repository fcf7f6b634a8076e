// show ddp: one epoch of training, really, on two processes of this computer.
#include "dist/dist.h"

#include "distlab/show/scene.h"
#include "distlab/train/trainer.h"

namespace distlab::show {

dist::trace::Trace ddp() {
  say("Two processes, each with a copy of one model and half of the data. After every step they have the "
      "same weights: "
      "gradients are averaged while backward goes on.");
  TrainOptions options;
  options.epochs = 1;
  options.samples = 6'000;
  options.test_samples = 1'000;
  dist::spawn(2, [&](int) {
    dist::init_process_group();
    Trainer(options).run();
    dist::destroy_process_group();
  });
  say("./distlab train goes on for longer; --nproc, --epochs and --plot change and draw it.");
  return {};
}

}  // namespace distlab::show
