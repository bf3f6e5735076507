"""The laws that the EULER manual prints for contactPS, as it prints them."""

DAMPING = """// Cr1 - коэффициент восстановления скорости;
// kD1 - коэффициент линейного перехода между режимами
// демпфирования;
// kE1 - относительное поглощение энергии на прямом ходе
scalar Cr1 = 0.4;
scalar kD1 = 1[s/m];
scalar kE1 = 0.25;
// fd(v[m/s],Cr[],kD[s/m],kE[]) - функция относительной силы
// нормального демпфирования в зависимости от коэффициентов // Cr, kD.kE
function fd(v[m/s],Cr[],kD[s/m],kE[])=
#kD*#v < (#Cr*#Cr-1)*(1-#kE)/(1-#kE+#Cr*#Cr*#kE) ->
(#Cr*#Cr-1)*(1-#kE)/(1-#kE+#Cr*#Cr*#kE),
#kD*#v > (1-#Cr*#Cr)*#kE/(1-#kE+#Cr*#Cr*#kE) ->
(1-#Cr*#Cr)*#kE/(1-#kE+#Cr*#Cr*#kE),
#kD*#v;
// fd_1(v[m/s]) - функция относительной силы нормального
// демпфирования с заданными коэффициентами Cr=Cr1, kD=kD1,
// kE=kE1"
function fd_1(v[m/s]) = fd(#v,Cr1,kD1,kE1);
"""

FRICTION = """// k_fr - коэффициент трения
// kT1 – коэффициент линейного перехода между покоем и полным
// включением силы трения
scalar k_fr = 0.1;
scalar kT1 = 10[s/m];
// fr_line(N[N],v[m/s],kT[s/m]) - линейная функция силы трения в
// зависимости от коэффициента kT
function fr_line(N[N],v[m/s],kT[s/m]) =
#v*#kT>1 ->
k_fr*#N,
#v*#kT*k_fr*#N;
// fr_line_1(N[N],v[m/s]) - линейная функция силы трения с
// заданным коэффициентом kT=kT1
function fr_line_1(N[N],v[m/s]) = fr_line(#N,#v,kT1);
// fr_sin(N[N],v[m/s],kT[s/m]) синусоидальная функция силы
// трения в зависимости от коэффициента kT
function fr_sin(N[N],v[m/s],kT[s/m]) =
#kT*#v>=1 ->
k_fr*#N,
k_fr*#N*(1/2+sin(PI*(#v-1/(2*#kT))*#kT)/2);
// fr_sin_1(N[N],v[m/s]) - синусоидальная функция силы трения с
// заданным коэффициентом kT=kT1
function fr_sin_1(N[N],v[m/s]) = fr_sin(#N,#v,kT1);
"""
