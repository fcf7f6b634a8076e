// Everything in this folder that a training program uses.
#pragma once

#include "dist/nn/adam.h"
#include "dist/nn/batch_norm2d.h"
#include "dist/nn/checkpoint.h"
#include "dist/nn/conv2d.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/flatten.h"
#include "dist/nn/linear.h"
#include "dist/nn/max_pool2d.h"
#include "dist/nn/random.h"
#include "dist/nn/relu.h"
#include "dist/nn/safetensors.h"
#include "dist/nn/sequential.h"
#include "dist/nn/sgd.h"
#include "dist/nn/threads.h"
