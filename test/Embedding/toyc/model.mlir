func.func @add_norm(%x: tensor<?x256xf32>, %residual: tensor<?x256xf32>,
                    %weight: tensor<256xf32>) -> tensor<?x256xf32> {
  %h = toy.add %x, %residual : tensor<?x256xf32>, tensor<?x256xf32>
  %y = toy.norm %h, %weight : tensor<?x256xf32>, tensor<256xf32>
  return %y : tensor<?x256xf32>
}

func.func @layer(%x: tensor<?x256xf32>, %residual: tensor<?x256xf32>,
                 %weight: tensor<256xf32>) -> tensor<?x256xf32> {
  %y = call @add_norm(%x, %residual, %weight)
      : (tensor<?x256xf32>, tensor<?x256xf32>, tensor<256xf32>) -> tensor<?x256xf32>
  %z = toy.relu %y : tensor<?x256xf32>
  return %z : tensor<?x256xf32>
}
