// show ddp: one real epoch of training, on two processes of this computer.
#include "dist/dist.h"

#include "distlab/show/scene.h"
#include "distlab/train/trainer.h"

namespace distlab::show {

dist::trace::Trace ddp() {
  say("Two processes train, each with a copy of one model and half of the data. After every step they have "
      "the same weights, because gradients are averaged while backward continues.");
  TrainOptions options;
  options.epochs = 1;
  options.samples = 6'000;
  options.test_samples = 1'000;
  dist::spawn(2, [&](int) {
    dist::init_process_group();
    Trainer(options).run();
    dist::destroy_process_group();
  });
  say("To train longer, on more ranks, or with plots: ./distlab train --help");
  return {};
}

}  // namespace distlab::show
