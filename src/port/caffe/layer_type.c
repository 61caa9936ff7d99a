/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "port/caffe/layer_type.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The place is the number in V1. */
static const struct {
    const char *v2, *v0;
} types[] = {
    {"", NULL},
    {"Accuracy", "accuracy"},
    {"BNLL", "bnll"},
    {"Concat", "concat"},
    {"Convolution", "conv"},
    {"Data", "data"},
    {"Dropout", "dropout"},
    {"EuclideanLoss", "euclidean_loss"},
    {"Flatten", "flatten"},
    {"HDF5Data", "hdf5_data"},
    {"HDF5Output", "hdf5_output"},
    {"Im2col", "im2col"},
    {"ImageData", "images"},
    {"InfogainLoss", "infogain_loss"},
    {"InnerProduct", "innerproduct"},
    {"LRN", "lrn"},
    {"MultinomialLogisticLoss", "multinomial_logistic_loss"},
    {"Pooling", "pool"},
    {"ReLU", "relu"},
    {"Sigmoid", "sigmoid"},
    {"Softmax", "softmax"},
    {"SoftmaxWithLoss", "softmax_loss"},
    {"Split", "split"},
    {"TanH", "tanh"},
    {"WindowData", "window_data"},
    {"Eltwise", NULL},
    {"Power", NULL},
    {"SigmoidCrossEntropyLoss", NULL},
    {"HingeLoss", NULL},
    {"MemoryData", NULL},
    {"ArgMax", NULL},
    {"Threshold", NULL},
    {"DummyData", NULL},
    {"Slice", NULL},
    {"MVN", NULL},
    {"AbsVal", NULL},
    {"Silence", NULL},
    {"ContrastiveLoss", NULL},
    {"Exp", NULL},
    {"Deconvolution", NULL},
};

const char *tsr_caffe_type_of_v1(int32_t number)
{
    return number >= 0 && (size_t)number < COUNT(types) ? types[number].v2 : "";
}

const char *tsr_caffe_type_of_v0(const char *name)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].v0 && strcmp(types[i].v0, name) == 0)
            return types[i].v2;
    return name;
}
