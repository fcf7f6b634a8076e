#include "distlab/train/datasets.h"

#include <string_view>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/data/digits.h"
#include "dist/data/mnist.h"

#include "distlab/workspace.h"

namespace distlab {
namespace {

namespace data = dist::data;

Samples digits(std::int64_t size, std::uint64_t collection) {
  return {std::make_unique<data::Digits>(size, collection), size};
}

Samples mnist(const std::filesystem::path& folder, data::Split split, std::int64_t wanted,
              std::string_view option) {
  auto images = std::make_unique<data::Images>(data::load_mnist(folder, split));
  const std::int64_t size = images->size();
  if (wanted > size)
    dist::fail(dist::Errc::invalid_argument, "{} is {}, but MNIST in {} has only {}", option, wanted,
               folder.string(), dist::counted(size, "such image"));
  return {std::move(images), wanted > 0 ? wanted : size};
}

std::filesystem::path folder_of(const TrainOptions& options) {
  return options.folder.empty() ? mnist_folder() : options.folder;
}

}  // namespace

void expect_files(const TrainOptions& options) {
  if (options.data != "mnist") return;
  for (const auto& file : data::mnist_files) data::mnist_file(folder_of(options), file.name);
}

Datasets load_datasets(const TrainOptions& options) {
  if (options.data == "mnist") {
    const auto folder = folder_of(options);
    return {.train = mnist(folder, data::Split::train, options.samples, "--samples"),
            .test = mnist(folder, data::Split::test, options.test_samples, "--test-samples")};
  }
  constexpr std::int64_t train_size = 12'000, test_size = 2'000;
  constexpr std::uint64_t train_collection = 1, test_collection = 2;
  return {.train = digits(options.samples > 0 ? options.samples : train_size, train_collection),
          .test = digits(options.test_samples > 0 ? options.test_samples : test_size, test_collection)};
}

}  // namespace distlab
