// The options of `distlab train`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace distlab {

struct TrainOptions {
  int ranks = 0;                 // ranks or threads, depending on the scheme; 0: at most two
  std::string scheme = "ddp";    // a name of train/scheme.h
  std::string device = "cpu";    // or "cuda": rank r takes GPU r modulo the number of GPUs
  std::string backend = "auto";  // for init_process_group()
  int epochs = 2;
  std::int64_t batch_size = 64;   // per rank or thread
  std::string data = "digits";    // generated digits, or "mnist"
  std::filesystem::path folder;   // of MNIST's files; empty: where `distlab data mnist` looks
  std::int64_t samples = 0;       // per epoch, of all ranks; 0: 12,000 digits, or all of MNIST
  std::int64_t test_samples = 0;  // 0: 2,000 digits, or all of MNIST
  double lr = 0.02;
  double momentum = 0.9;
  std::uint64_t seed = 0;            // of the first weights and of the order of the images
  std::filesystem::path checkpoint;  // written after each epoch; empty: none
  bool resume = false;               // continue from the checkpoint if it exists
  std::filesystem::path plot;        // a folder for the SVG files; empty: none
};

}  // namespace distlab
