// The programs for PyTorch that are compiled into this one, each with train/pytorch_convnet.py in it.
#pragma once

#include <string_view>

namespace distlab::bench {

std::string_view pytorch_rank_script();   // ddp/pytorch_rank.py
std::string_view pytorch_train_script();  // train/pytorch_train.py

}  // namespace distlab::bench
