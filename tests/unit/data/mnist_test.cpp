#include "dist/data/mnist.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "dist/data/data_loader.h"

#include "idx_files.h"
#include "support/expect_error.h"

namespace dist::data {
namespace {

using test::idx;
using test::TemporaryFolder;

// A small MNIST: image i is full of pixel value 10 i, and a `label`.
struct SmallMnist : TemporaryFolder {
  explicit SmallMnist(const std::string& labels = std::string("\x05\x00\x09", 3), std::uint32_t side = 28) {
    std::string pixels;
    for (int i = 0; i < 3; ++i) pixels += std::string(std::size_t{side} * side, static_cast<char>(10 * i));
    write("train-images-idx3-ubyte", idx({3, side, side}, pixels));
    write("train-labels-idx1-ubyte", idx({static_cast<std::uint32_t>(labels.size())}, labels));
    write("t10k-images-idx3-ubyte", idx({1, side, side}, pixels.substr(0, std::size_t{side} * side)));
    write("t10k-labels-idx1-ubyte", idx({1}, "\x04"));
  }
};

TEST(Mnist, IsReadFromItsFiles) {
  const SmallMnist files;
  const auto train = load_mnist(files.path(), Split::train);
  EXPECT_EQ(train.size(), 3);
  EXPECT_EQ(train.get(2).target.item<int>(), 9);
  EXPECT_NEAR(train.get(2).input.to_vector<float>()[0], (20 / 255. - 0.1307) / 0.3081, 1e-6);
  const auto batch = *DataLoader(train, {.batch_size = 3}).begin();
  EXPECT_EQ(batch.inputs.shape(), (Shape{3, 1, 28, 28}));
  EXPECT_EQ(batch.targets.to_vector<int>(), (std::vector{5, 0, 9}));
  EXPECT_EQ(load_mnist(files.path(), Split::test).get(0).target.item<int>(), 4);
}

TEST(Mnist, SaysWhichFileIsNotThere) {
  const SmallMnist files;
  std::filesystem::remove(files / "t10k-labels-idx1-ubyte");
  EXPECT_EQ(load_mnist(files.path(), Split::train).size(), 3);
  EXPECT_DIST_ERROR(load_mnist(files.path(), Split::test), Errc::resource,
                    "there is no t10k-labels-idx1-ubyte in");
  EXPECT_DIST_ERROR(load_mnist(files / "nowhere", Split::test), Errc::resource,
                    "`./distlab data mnist` says where");
}

TEST(Mnist, RefusesLabelsThatAreNoDigits) {
  const SmallMnist files(std::string("\x05\x0a\x09", 3));
  EXPECT_DIST_ERROR(load_mnist(files.path(), Split::train), Errc::invalid_argument,
                    "label 1 is 10, but digits are 0 to 9");
}

TEST(Mnist, RefusesFilesThatDoNotBelongTogether) {
  const SmallMnist files(std::string("\x05\x01", 2));
  EXPECT_DIST_ERROR(load_mnist(files.path(), Split::train), Errc::invalid_argument, "has 3 images, but");
}

TEST(Mnist, RefusesImagesOfAnotherSize) {
  const SmallMnist files(std::string("\x05\x01\x02", 3), 32);
  EXPECT_DIST_ERROR(load_mnist(files.path(), Split::train), Errc::invalid_argument,
                    "images of 32 x 32 pixels");
}

TEST(Mnist, RefusesImagesInPlaceOfLabels) {
  const SmallMnist files;
  std::filesystem::copy_file(files / "t10k-images-idx3-ubyte", files / "train-labels-idx1-ubyte",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_DIST_ERROR(load_mnist(files.path(), Split::train), Errc::invalid_argument,
                    "train-labels-idx1-ubyte begins with 0x00000803");
}

TEST(Mnist, TheUncompressedFileIsPreferred) {
  const SmallMnist files;
  files.write("train-images-idx3-ubyte.gz", "something else");
  EXPECT_EQ(find_mnist_file(files.path(), "train-images-idx3-ubyte"), files / "train-images-idx3-ubyte");
  std::filesystem::remove(files / "train-images-idx3-ubyte");
  EXPECT_EQ(find_mnist_file(files.path(), "train-images-idx3-ubyte"), files / "train-images-idx3-ubyte.gz");
}

}  // namespace
}  // namespace dist::data
